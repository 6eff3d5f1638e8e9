import serial
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with serial.Serial("/dev/ttyUSB0", 9600) as port:
            return {"line": port.readline().decode()}
