"""The manifests under deploy/: what they run is a call that there is, with the versions that are asked for."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from warmwire.cli import make_app

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")


@pytest.fixture
def job() -> Any:
    return yaml.safe_load((ROOT / "deploy" / "kuberay" / "job.yaml").read_text())


def test_the_job_calls_a_verb_with_options_that_it_has(job: Any) -> None:
    from typer.main import get_command

    program, verb, *words = shlex.split(job["spec"]["entrypoint"])
    assert program == "warmwire"
    command = get_command(make_app()).commands[verb]  # type: ignore[attr-defined]
    context = command.make_context(verb, words, resilient_parsing=False)
    assert context.params["ray"] == "auto"
    cpus = [
        int(c["resources"]["limits"]["cpu"]) for c in _containers(job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0])
    ]
    assert context.params["jobs"] == cpus[0] * job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"]


def test_every_mount_has_a_volume_and_versions_agree(job: Any) -> None:
    cluster = job["spec"]["rayClusterSpec"]
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["ray"]
    assert lowest == [f"ray>={re.sub(r'[.]0$', '', cluster['rayVersion'])}"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        volumes = {volume["name"] for volume in group["template"]["spec"]["volumes"]}
        for container in _containers(group):
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
            assert container["image"] == _containers(cluster["headGroupSpec"])[0]["image"]


def _containers(group: Any) -> list[Any]:
    containers: list[Any] = group["template"]["spec"]["containers"]
    return containers
