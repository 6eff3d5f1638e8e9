from dataclasses import dataclass


@dataclass
class Settings:
    hook: str = "https://hooks.example.org/in"
