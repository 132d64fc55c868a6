"""The manifests for KubeRay keep to its schema, to one another, and to what the operating page promises."""

import itertools
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import yaml

from gossamer.cli.options.commands import app
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kuberay"
FILES = sorted(FOLDER.glob("*.yaml"))
SCHEMA = msgspec.json.decode((Path(__file__).parent / "data" / "kuberay-v1.schema.json").read_bytes())
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in FILES:
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            yield path.name, document


DOCUMENTS = list(documents())
NAMES = [f"{name}-{document['kind']}" for name, document in DOCUMENTS]
CLUSTERS = [document for _, document in DOCUMENTS if document["kind"] == "RayCluster"]


def found(tree: Any, key: str) -> Iterator[Any]:
    """All values under `key`, wherever it stands."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from found(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from found(value, key)


def problems(document: dict[str, Any]) -> list[str]:
    schema = {**SCHEMA, "$ref": f"#/$defs/{document['kind']}"}
    import jsonschema  # with whatever it finds of a grammar for addresses, a second

    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=NAMES)
def test_a_manifest_keeps_to_the_schema(name: str, document: dict[str, Any]) -> None:
    assert problems(document) == []


def test_the_schema_finds_mistakes() -> None:
    cluster = msgspec.json.decode(msgspec.json.encode(CLUSTERS[0]))
    cluster["spec"]["workerGroupSpecs"][0]["replica"] = 3
    del cluster["spec"]["workerGroupSpecs"][0]["groupName"]
    cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] = 0
    cluster["spec"]["authOptions"]["mode"] = "none"
    assert len(problems(cluster)) == 4


def test_the_fault_tolerant_cluster_is_the_other_one_with_redis() -> None:
    plain, tolerant = sorted(CLUSTERS, key=lambda cluster: "gcsFaultToleranceOptions" in cluster["spec"])
    options = tolerant["spec"].pop("gcsFaultToleranceOptions")
    try:
        assert tolerant == plain
    finally:
        tolerant["spec"]["gcsFaultToleranceOptions"] = options
    services = {document["metadata"]["name"] for _, document in DOCUMENTS if document["kind"] == "Service"}
    assert re.fullmatch(r"redis://([a-z-]+):6379", options["redisAddress"]).group(1) in services


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda cluster: cluster["spec"]["rayVersion"])
def test_a_cluster_is_authenticated_and_of_one_version(cluster: dict[str, Any]) -> None:
    spec = cluster["spec"]
    assert spec["authOptions"]["mode"] == "token"
    assert len(set(found(spec, "image"))) == 1
    assert f"rayproject/ray:{spec['rayVersion']}-" in (FOLDER / "Dockerfile").read_text()
    assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0", "agents would run beside the head"


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=NAMES)
def test_no_container_has_more_rights_than_it_needs(name: str, document: dict[str, Any]) -> None:
    for pod in (template["spec"] for template in found(document, "template")):
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
        assert not pod["automountServiceAccountToken"]
        for container in pod["containers"]:
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert not container["securityContext"]["allowPrivilegeEscalation"]
            assert not container["securityContext"].get("privileged")
            resources = container["resources"]
            assert resources["limits"]["memory"] == resources["requests"]["memory"]
            # Liveness is Ray's and the operator's affair: what is slow is not dead.
            assert not {"livenessProbe", "readinessProbe"} & set(container)


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=NAMES)
def test_what_is_referred_to_is_there_or_told_of(name: str, document: dict[str, Any]) -> None:
    there = {(each["kind"], each["metadata"]["name"]) for _, each in DOCUMENTS}
    for config in found(document, "configMap"):
        assert ("ConfigMap", config["name"]) in there
    for claim in found(document, "persistentVolumeClaim"):
        assert ("PersistentVolumeClaim", claim["claimName"]) in there
    for key in ("secretRef", "secretKeyRef"):
        for secret in found(document, key):
            assert f"secret generic {secret['name']} " in OPERATING
    for pod in (template["spec"] for template in found(document, "template")):
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        volumes |= {
            claim["metadata"]["name"]
            for claims in found(document, "volumeClaimTemplates")
            for claim in claims
        }
        for mounts in found(pod, "volumeMounts"):
            assert {mount["name"] for mount in mounts} <= volumes


def test_no_secret_stands_in_a_manifest() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert "kind: Secret" not in text
        assert not re.search(r"(?i)(password|token|key): *[\"']?[A-Za-z0-9+/]{16,}", text), path.name


def test_the_settings_are_understood() -> None:
    (settings,) = (document for _, document in DOCUMENTS if document["kind"] == "ConfigMap")
    config = load(CrawlConfig, tomllib.loads(settings["data"]["crawl.toml"]))
    assert config.fetch.contact


def test_the_crawl_runs_on_the_cluster_with_what_is_mounted() -> None:
    (job,) = (document for _, document in DOCUMENTS if document["kind"] == "RayJob")
    names = {cluster["metadata"]["name"] for cluster in CLUSTERS}
    assert job["spec"]["clusterSelector"]["ray.io/cluster"] in names
    words = shlex.split(job["spec"]["entrypoint"])
    assert words[:3] == ["gossamer", "cluster", "crawl"]
    given = dict(itertools.pairwise(words))
    spec = CLUSTERS[0]["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert str(Path(given["--dir"]).parent) in mounted
        assert str(Path(given["--config"]).parent) in mounted


def test_its_command_is_understood() -> None:
    cluster = app.commands.get("cluster")
    assert isinstance(cluster, click.Group), "there is no gossamer cluster"
    (job,) = (document for _, document in DOCUMENTS if document["kind"] == "RayJob")
    words = shlex.split(job["spec"]["entrypoint"])
    known = {name for parameter in cluster.commands[words[2]].params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_network_lets_in_the_cluster_and_the_operator_only() -> None:
    policies = [document["spec"] for _, document in DOCUMENTS if document["kind"] == "NetworkPolicy"]
    assert policies
    for policy in policies:
        assert policy["policyTypes"] == ["Ingress"]
        assert all(rule["from"] and all(rule["from"]) for rule in policy["ingress"])
