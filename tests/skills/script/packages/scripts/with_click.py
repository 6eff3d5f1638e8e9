# /// script
# dependencies = ["click==8.1.8"]
# ///
import json
import sys

import click


@click.command()
@click.option("--times", default=1, type=click.IntRange(1, 9), help="How often.")
@click.argument("source", type=click.File("r"))
def main(times, source):
    """Reads JSON from SOURCE."""
    value = json.load(source)
    click.echo(json.dumps({"keys": sorted(value) * times}))
    if "fail" in value:
        sys.exit(value["fail"])


if __name__ == "__main__":
    main()
