"""A Language Server Protocol client of cute-lsp, for tests/cli/lsp.bats."""
import json
import subprocess
import sys


class Client:
    def __init__(self, *options):
        self.process = subprocess.Popen(["cute-lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next = 0
        self.diagnostics = {}

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def read(self):
        length = None
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name == b"Content-Length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length)) if length is not None else None
        if message and message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def request(self, method, **params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while (message := self.read()).get("id") != self.next:
            pass
        return message

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def start(self):
        answer = self.request("initialize", capabilities={}, rootUri=None, processId=None)
        self.notify("initialized")
        return answer["result"]

    def open(self, uri, text):
        """What is wrong with it."""
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "mlir", "version": 1, "text": text})
        while uri not in self.diagnostics:
            self.read()
        return self.diagnostics[uri]

    def change(self, uri, text):
        return self.edit(uri, {"text": text})

    def edit(self, uri, *changes):
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=list(changes))
        while uri not in self.diagnostics:
            self.read()
        return self.diagnostics[uri]

    def at(self, method, uri, text, what, offset=0):
        """A request at the first place of `what`, a few characters on."""
        before = text[:text.index(what) + offset]
        line = before.count("\n")
        character = len(before[before.rfind("\n") + 1:].encode("utf-16-le")) // 2
        return self.request(method, textDocument={"uri": uri}, position={"line": line, "character": character})["result"]

    def hover(self, uri, text, what, offset=0):
        result = self.at("textDocument/hover", uri, text, what, offset)
        return result and result["contents"]["value"]

    def stop(self):
        assert self.request("shutdown")["result"] is None
        self.notify("exit")
        return self.process.wait(timeout=20)


def need(condition, *what):
    if not condition:
        print("wrong:", *what)
        sys.exit(1)
