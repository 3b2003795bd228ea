"""A server whose login follows a script, for tests (see script.go)."""
import asyncio
import json
import sys

import asyncssh

script = json.loads(sys.argv[1])
rounds = script["rounds"] or []


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class Server(asyncssh.SSHServer):
    def connection_made(self, conn):
        self.conn = conn
        self.at = 0

    def begin_auth(self, username):
        if script["banner"]:
            self.conn.send_auth_banner(script["banner"])
        return True

    def password_auth_supported(self):
        return bool(script["password"])

    def validate_password(self, username, password):
        good = username == script["user"] and password == script["password"]
        say({"method": "password", "sent": [password], "good": good})
        if good and script["expired"]:
            raise asyncssh.PasswordChangeRequired("it has expired")
        return good

    def kbdint_auth_supported(self):
        return bool(rounds)

    def challenge(self):
        r = rounds[self.at]
        return r["name"], r["instruction"], "", [(p["text"], p["echo"]) for p in r["prompts"] or []]

    def get_kbdint_challenge(self, username, lang, submethods):
        self.at = 0
        return self.challenge()

    def validate_kbdint_response(self, username, responses):
        good = list(responses) == (rounds[self.at]["want"] or []) and username == script["user"]
        say({"method": "keyboard-interactive", "sent": list(responses), "good": good})
        if not good:
            return False
        self.at += 1
        if self.at == len(rounds):
            return True
        return self.challenge()


async def main():
    server = await asyncssh.create_server(
        Server, "127.0.0.1", 0, server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")])
    say(server.sockets[0].getsockname()[1])
    ended = asyncio.Event()

    def told():
        if sys.stdin.readline():
            say({"synced": True})
        else:
            ended.set()
    asyncio.get_running_loop().add_reader(sys.stdin, told)
    await ended.wait()

asyncio.run(main())
