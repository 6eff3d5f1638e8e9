import http.client
import imaplib
import smtplib
import socket
import ssl

import requests
import urllib3
from skillware.core.base_skill import BaseSkill


class Tls(BaseSkill):
    manifest = {}

    def execute(self, params):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        urllib3.util.create_urllib3_context()
        requests.Session().mount("https://", requests.adapters.HTTPAdapter())
        http.client.HTTPSConnection("example.com", context=context)
        assert imaplib.IMAP4_SSL and smtplib.SMTP_SSL
        context.wrap_socket(socket.socket(), server_hostname="example.com")
