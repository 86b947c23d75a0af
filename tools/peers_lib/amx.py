"""Keeps a process from using AMX, so that AVX-512 VNNI can be compared with AVX-512 VNNI on machines that have both.

Linux lets a process use the tile registers only after it asked by arch_prctl; here that call is made to fail, and every
library then takes its next best code. SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import platform
import struct

ARCH_PRCTL, ARCH_REQ_XCOMP_PERM = 158, 0x1023
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
SYSCALL_OFFSET, FIRST_ARGUMENT_OFFSET = 0, 16


def forbid() -> None:
    """For this process and its children, for good."""
    if platform.machine() != "x86_64":
        return
    steps = [(LOAD_WORD, 0, 0, SYSCALL_OFFSET), (JUMP_IF_EQUAL, 0, 3, ARCH_PRCTL),
             (LOAD_WORD, 0, 0, FIRST_ARGUMENT_OFFSET), (JUMP_IF_EQUAL, 0, 1, ARCH_REQ_XCOMP_PERM),
             (RETURN, 0, 0, FAIL | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "cannot keep this process from using AMX")
