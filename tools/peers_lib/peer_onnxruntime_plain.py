"""ONNX Runtime: dynamic int8, per channel, on the graph of plain operators. SPDX-License-Identifier: Apache-2.0"""
import peer_onnxruntime


class Peer(peer_onnxruntime.Peer):
    GRAPH = "plain_int8.onnx"
