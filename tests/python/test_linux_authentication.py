"""Who connects by NVMe/TCP: Linux as the host of a served drive, and as the target of our own host."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import lanetwin
from guest import NEWER, Hardware, booted, require_guest
from lanetwin import emulation
from test_linux_initiator import SCENARIO, served

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent
LONG_S = 240.0
"""Longer than any step of the guest takes: it computes powers without an accelerator."""
HASHES = ("none", "sha-256", "sha-384", "sha-512")
TERMS = ("", "hash sha-384\ngroup ffdhe4096\n", "hash sha-512\ngroup null\n")
"""What three targets want: the default is SHA-256 and ffdhe2048."""


def secrets_file(path: Path, text: str) -> Path:
    """Write a file that nobody else may read."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


def test_linux_proves_who_it_is_and_wants_to_know_who_the_drive_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme", release=NEWER)
    script = (HERE / "nvme_tcp_secrets.sh").read_text(encoding="utf-8")
    secrets, control = [emulation.new_key(name) for name in HASHES], emulation.new_key("sha-256")
    hosts = "".join(
        f"nqn.2026-01.test:guest{number} {secret} {control}\n" for number, secret in enumerate(secrets)
    )
    with ExitStack() as stack:
        targets = []
        for number, terms in enumerate(TERMS):
            folder = tmp_path / str(number)
            folder.mkdir()
            keys = secrets_file(folder / "hosts.keys", terms + hosts)
            targets.append(stack.enter_context(served(folder, SCENARIO, "--keys", str(keys))))
        ports = " ".join(str(target.port) for target in targets)
        known = f"PORTS='{ports}' SECRETS='{' '.join(secrets)}' CONTROL={control}\n"
        guest = stack.enter_context(booted(tmp_path, tools, known + script))
        assert guest.said("CHECK", LONG_S) == "the host by secrets of every hash"
        used = [guest.said("USED", LONG_S) for _ in TERMS]
        assert used == [
            "hmac(sha256) dhgroup ffdhe2048",
            "hmac(sha384) dhgroup ffdhe4096",
            "hmac(sha512) dhgroup null",
        ]
        for check in (
            "both by every hash and three groups",
            "no secret",
            "another secret",
            "another subsystem",
            "another host",
            "again after a reset by the host",
            "again while it is used",
        ):
            assert guest.said("CHECK", LONG_S) == check
        assert guest.said("ENDED", LONG_S) == "0"


def test_our_host_proves_itself_to_linux_by_every_hash_and_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest(release=NEWER)
    script = (HERE / "nvme_tcp_nvmet.sh").read_text(encoding="utf-8")
    groups = ("null", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192")
    terms = [f"{name}/{group}" for name in ("sha256", "sha384", "sha512") for group in groups]
    secret, control = emulation.new_key("sha-384"), emulation.new_key("none")
    nqn = "nqn.2026-01.org.lanetwin:host"
    both = secrets_file(tmp_path / "both.keys", f"{nqn} {secret} {control}\n")
    alone = secrets_file(tmp_path / "alone.keys", f"{nqn} {secret}\n")
    wrong = secrets_file(tmp_path / "wrong.keys", f"{nqn} {control}\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    known = f"SECRET={secret} CONTROL={control} TERMS='{' '.join([*terms, terms[0], terms[1]])}'\n"
    hardware = Hardware(forwards=((port, 4420),))

    def proved(keys: Path | None) -> str:
        try:
            return emulation.ping(f"127.0.0.1:{port}", nqn="nqn.2026-01.test:nvmet", reads=4, keys=keys)[
                "proved"
            ]
        except lanetwin.LanetwinError as error:
            return str(error)

    with booted(tmp_path, tools, known + script, hardware) as guest:
        for wanted in terms:
            assert guest.said("READY", LONG_S) == wanted.replace("/", " ")
            assert proved(both) == "both", wanted
        guest.said("READY", LONG_S)
        assert proved(alone) == "host"
        guest.said("READY", LONG_S)
        assert "do not have the same secrets" in proved(wrong)
        assert guest.said("ENDED", LONG_S) == "0"
