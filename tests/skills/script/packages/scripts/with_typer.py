# /// script
# dependencies = ["typer==0.15.1", "click==8.1.8"]
# ///
import typer

app = typer.Typer()


@app.command()
def greet(name: str, loud: bool = False):
    """Greets NAME."""
    text = f"hello {name}"
    typer.echo(text.upper() if loud else text)


@app.command()
def leave(code: int):
    """Ends with a code."""
    raise typer.Exit(code)


if __name__ == "__main__":
    app()
