from .skill import {{class}}


def test_someone_is_greeted_by_name():
    assert {{class}}().execute({"name": "Ada"}) == {"greeting": "Hello, Ada!"}


def test_without_a_name_the_world_is_greeted():
    assert {{class}}().execute({}) == {"greeting": "Hello, world!"}


def test_the_manifest_describes_the_params():
    manifest = {{class}}().manifest
    assert manifest["name"] == "{{id}}"
    assert list(manifest["parameters"]["properties"]) == ["name"]
