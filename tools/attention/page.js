// SPDX-License-Identifier: Apache-2.0
"use strict";
// `data`: model, rows, columns, ramps {light, dark}, first, and maps in the order of the layers, each with layer, layerTitle,
// headTitle, facts. The weights of map i are in the element "weights<i>", base64 of little-endian 16-bit integers: 65534 is 1,
// 65535 is not a number.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const frame = byId("frame"), canvas = byId("map"), reading = byId("reading");
const rows = data.rows.length, columns = data.columns.length;
const ONE = 65534, NO_NUMBER = 65535;
const LABEL_LIMIT = 24;
let current = data.first, weights = null, largest = 0;
let cursor = null;  // {row, column}
let layout = null;  // {cell, left, top, font}

function decode(index) {
  const text = atob(byId("weights" + index).textContent.trim());
  const codes = new Uint16Array(text.length / 2);
  for (let i = 0; i < codes.length; ++i) codes[i] = text.charCodeAt(2 * i) | text.charCodeAt(2 * i + 1) << 8;
  return codes;
}

const weightOf = (code) => code === NO_NUMBER ? NaN : code / ONE;
const weightAt = (row, column) => weightOf(weights[row * columns + column]);
const words = (weight) => Number.isNaN(weight) ? "not a number" : weight.toFixed(4);
const cut = (label) => Array.from(label).length > LABEL_LIMIT ? Array.from(label).slice(0, LABEL_LIMIT - 1).join("") + "\u2026" : label;

const isDark = () => document.documentElement.dataset.theme === "dark";
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function colorOf(weight) {
  if (Number.isNaN(weight)) return [208, 92, 24];
  const ramp = isDark() ? data.ramps.dark : data.ramps.light;
  const scale = byId("fixed").checked || largest === 0 ? 1 : largest;
  const at = Math.min(Math.max(weight / scale, 0), 1) * (ramp.length - 1);
  const from = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[from].map((low, i) => Math.round(low + (at - from) * (ramp[from + 1][i] - low)));
}

const css = (color) => `rgb(${color.join(",")})`;
const inkOn = (color) => color[0] * 0.299 + color[1] * 0.587 + color[2] * 0.114 > 128 ? "#000000" : "#ffffff";

// Cells as large as the frame allows; below a size, the matrix scrolls.
function measure(pen) {
  const least = Math.max(rows, columns) > 200 ? 4 : 12;
  const room = frame.clientWidth;
  const fit = (font) => {
    pen.font = `bold ${font}px system-ui, sans-serif`;  // as the chosen row's
    const width = (labels) => Math.ceil(Math.max(...labels.map((label) => pen.measureText(cut(label)).width)));
    return {left: width(data.rows) + 10, top: width(data.columns) + 10};
  };
  let sides = fit(13);
  const cell = Math.floor(Math.min(Math.max((room - sides.left - 2) / columns, least), 44));
  const font = cell >= 15 ? 13 : Math.max(cell - 2, 4);
  if (font !== 13) sides = fit(font);
  return {cell, font, left: sides.left, top: sides.top};
}

function draw() {
  const pen = canvas.getContext("2d");
  layout = measure(pen);
  const {cell, left, top} = layout;
  const width = left + cell * columns + 2, height = top + cell * rows + 2;
  const sharp = Math.min(window.devicePixelRatio || 1, Math.max(1, 8192 / Math.max(width, height)));
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  drawCells(pen);
  drawLabels(pen);
  if (cursor) {
    pen.strokeStyle = style("--mark");
    pen.lineWidth = Math.max(2, cell / 12);
    pen.strokeRect(left + cursor.column * cell, top + cursor.row * cell, cell, cell);
  }
}

function drawCells(pen) {
  const {cell, left, top} = layout;
  const gap = cell >= 10 ? 1 : 0;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = "11px system-ui, sans-serif";
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const weight = weightAt(row, column);
      const color = colorOf(weight);
      pen.fillStyle = css(color);
      pen.fillRect(left + column * cell, top + row * cell, cell - gap, cell - gap);
      if (cell < 30 || Number.isNaN(weight)) continue;
      pen.fillStyle = inkOn(color);
      pen.fillText(weight.toFixed(2), left + (column + 0.5) * cell, top + (row + 0.5) * cell);
    }
  }
}

function drawLabels(pen) {
  const {cell, font, left, top} = layout;
  const write = (label, chosen) => {
    pen.font = `${chosen ? "bold " : ""}${font}px system-ui, sans-serif`;
    pen.fillStyle = style(chosen ? "--mark" : "--ink");
    pen.fillText(cut(label), 0, 0);
  };
  pen.textBaseline = "middle";
  data.rows.forEach((label, row) => {
    pen.save();
    pen.textAlign = "right";
    pen.translate(left - 5, top + (row + 0.5) * cell);
    write(label, cursor && cursor.row === row);
    pen.restore();
  });
  data.columns.forEach((label, column) => {
    pen.save();
    pen.textAlign = "left";
    pen.translate(left + (column + 0.5) * cell, top - 5);
    pen.rotate(-Math.PI / 2);
    write(label, cursor && cursor.column === column);
    pen.restore();
  });
}

function tell() {
  const list = byId("top");
  list.replaceChildren();
  byId("who").textContent = cursor ? `${data.rows[cursor.row]} looks at` : "";
  if (!cursor) {
    reading.textContent = "";
    return;
  }
  const {row, column} = cursor;
  reading.textContent = `${data.rows[row]} (row ${row}) looks at ${data.columns[column]} (column ${column}): ${words(weightAt(row, column))}`;
  const order = Array.from({length: columns}, (_, i) => i).filter((i) => weightAt(row, i) > 0);
  order.sort((a, b) => weightAt(row, b) - weightAt(row, a) || a - b);
  for (const i of order.slice(0, 5)) {
    const item = document.createElement("li"), name = document.createElement("span"), value = document.createElement("span");
    const bar = document.createElement("meter");
    name.textContent = data.columns[i];
    value.textContent = words(weightAt(row, i));
    bar.value = weightAt(row, i);
    item.append(name, value, bar);
    list.append(item);
  }
}

function choose(row, column) {
  const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const next = {row: within(row, rows), column: within(column, columns)};
  if (cursor && cursor.row === next.row && cursor.column === next.column) return;
  cursor = next;
  draw();
  tell();
}

function show(index) {
  current = index;
  weights = decode(index);
  largest = 0;
  for (const code of weights) if (code !== NO_NUMBER && code / ONE > largest) largest = code / ONE;
  byId("facts").textContent = data.maps[index].facts;
  refresh();
}

function refresh() {
  const ramp = isDark() ? data.ramps.dark : data.ramps.light;
  byId("ramp").style.background = `linear-gradient(to right, ${ramp.map(css).join(", ")})`;
  byId("most").textContent = (byId("fixed").checked || largest === 0 ? 1 : largest).toFixed(4);
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  draw();
  tell();
}

function fillHeads() {
  const layer = byId("layer").value, wanted = data.maps[current].headTitle;
  const options = data.maps.flatMap((map, i) => map.layer === layer ? [new Option(map.headTitle, i)] : []);
  byId("head").replaceChildren(...options);
  const same = options.find((option) => option.text === wanted) || options[0];
  same.selected = true;
  show(Number(same.value));
}

function start() {
  byId("model").textContent = data.model;
  document.title = `Attention of ${data.model}`;
  const layers = new Map(data.maps.map((map) => [map.layer, map.layerTitle]));
  byId("layer").replaceChildren(...Array.from(layers, ([layer, title]) => new Option(title, layer)));
  byId("layer").value = data.maps[current].layer;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
  follow();
  dark.addEventListener("change", () => { follow(); refresh(); });
  fillHeads();
}

byId("choice").addEventListener("submit", (event) => event.preventDefault());
byId("layer").addEventListener("change", fillHeads);
byId("head").addEventListener("change", () => show(Number(byId("head").value)));
byId("fixed").addEventListener("change", refresh);
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  refresh();
});
window.addEventListener("resize", draw);

for (const kind of ["pointermove", "pointerdown"]) {
  canvas.addEventListener(kind, (event) => {
    const column = Math.floor((event.offsetX - layout.left) / layout.cell), row = Math.floor((event.offsetY - layout.top) / layout.cell);
    if (row >= 0 && row < rows && column >= 0 && column < columns) choose(row, column);
  });
}

const STEPS = {
  ArrowUp: (at) => [at.row - 1, at.column], ArrowDown: (at) => [at.row + 1, at.column],
  ArrowLeft: (at) => [at.row, at.column - 1], ArrowRight: (at) => [at.row, at.column + 1],
  Home: (at) => [at.row, 0], End: (at) => [at.row, columns - 1],
  PageUp: (at) => [0, at.column], PageDown: (at) => [rows - 1, at.column],
};
frame.addEventListener("keydown", (event) => {
  if (!STEPS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  choose(...(cursor ? STEPS[event.key](cursor) : [0, 0]));
  keepInView();
});

// Scrolls the frame so that the chosen cell shows.
function keepInView() {
  const x = layout.left + cursor.column * layout.cell, y = layout.top + cursor.row * layout.cell;
  if (x < frame.scrollLeft + layout.cell) frame.scrollLeft = x - layout.cell;
  if (x + layout.cell > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = x + 2 * layout.cell - frame.clientWidth;
  const box = canvas.getBoundingClientRect();
  if (box.top + y < 0 || box.top + y + layout.cell > window.innerHeight - reading.offsetHeight) {
    window.scrollBy(0, box.top + y - window.innerHeight / 2);
  }
}

start();
