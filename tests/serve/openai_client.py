"""OpenAI's own client against `assay serve`: what it sends is taken, what it gets it understands.

Usage: openai_client.py ASSAY
"""

import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import openai

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
MESSAGES = [{"role": "user", "content": "Which kernel is fastest?"}]
WATCHDOG_SECONDS = 60


@contextlib.contextmanager
def served(*flags, **client_options):
    with tempfile.TemporaryDirectory() as folder:
        port_file = pathlib.Path(folder, "port")
        command = [ASSAY, "--quiet", "serve", "--port", "0", "--port-file", port_file, *flags]
        server = subprocess.Popen(command, cwd=folder)
        try:
            deadline = time.monotonic() + WATCHDOG_SECONDS
            while not port_file.exists():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the server does not listen")
                time.sleep(0.01)
            url = f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
            options = {"api_key": "any", "max_retries": 0, "timeout": WATCHDOG_SECONDS}
            yield openai.OpenAI(base_url=url, **{**options, **client_options})
            server.send_signal(signal.SIGTERM)
            if server.wait(WATCHDOG_SECONDS) != 0:
                raise RuntimeError(f"the server ended with {server.returncode}")
        finally:
            server.kill()
            server.wait()


class Client(unittest.TestCase):
    def test_lists_models(self):
        with served("--model", "org/small") as client:
            self.assertEqual([model.id for model in client.models.list()], ["org/small"])
            self.assertEqual(client.models.retrieve("org/small").object, "model")
            with self.assertRaises(openai.NotFoundError):
                client.models.retrieve("other")

    def test_chats(self):
        with served() as client:
            parts = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
            for messages in (MESSAGES, parts):
                answer = client.chat.completions.create(
                    model="mock", messages=messages, max_completion_tokens=7, n=2, seed=4,
                    logprobs=True, top_logprobs=2)
                self.assertEqual(answer.object, "chat.completion")
                self.assertEqual(answer.usage.completion_tokens, 14)
                self.assertEqual(answer.choices[1].finish_reason, "length")
                tokens = answer.choices[0].logprobs.content
                self.assertEqual(len(tokens), 7)
                self.assertEqual(len(tokens[0].top_logprobs), 2)
                joined = b"".join(bytes(token.bytes) for token in tokens)
                self.assertEqual(joined.decode(), answer.choices[0].message.content)

    def test_streams_chats(self):
        with served() as client:
            asked = dict(model="mock", messages=MESSAGES, max_tokens=200, seed=4,
                         extra_body={"ignore_eos": True})
            whole = client.chat.completions.create(**asked)
            chunks = list(client.chat.completions.create(
                **asked, stream=True, stream_options={"include_usage": True}))
            self.assertEqual(chunks[-1].choices, [])
            self.assertEqual(chunks[-1].usage.completion_tokens, 200)
            self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
            text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
            self.assertEqual(text, whole.choices[0].message.content)
            self.assertEqual({chunk.id for chunk in chunks}, {chunks[0].id})

    def test_completes(self):
        with served() as client:
            answer = client.completions.create(
                model="mock", prompt=["a", "b"], max_tokens=3, logprobs=1, echo=True)
            self.assertEqual(len(answer.choices), 2)
            self.assertTrue(answer.choices[1].text.startswith("b"))
            chunks = list(client.completions.create(model="mock", prompt=[1, 2, 3], stream=True))
            self.assertEqual(chunks[-1].choices[0].finish_reason, "length")
            self.assertEqual({chunk.object for chunk in chunks}, {"text_completion"})

    def test_stops(self):
        with served() as client:
            asked = dict(model="mock", messages=MESSAGES, max_tokens=100, seed=9)
            text = client.chat.completions.create(**asked).choices[0].message.content
            stop = text[20:26]
            answer = client.chat.completions.create(**asked, stop=[stop, "never there"])
            self.assertEqual(answer.choices[0].message.content, text[:text.index(stop)])
            self.assertEqual(answer.choices[0].finish_reason, "stop")

    def test_refuses_with_its_own_errors(self):
        with served() as client:
            with self.assertRaises(openai.BadRequestError) as caught:
                client.chat.completions.create(model="mock", messages=MESSAGES, temperature=9)
            self.assertEqual(caught.exception.param, "temperature")
            with self.assertRaises(openai.NotFoundError) as caught:
                client.chat.completions.create(model="other", messages=MESSAGES)
            self.assertEqual(caught.exception.code, "model_not_found")
            with self.assertRaises(openai.InternalServerError):  # 501
                client.responses.create(model="mock", input="hi")

    def test_needs_the_key(self):
        with tempfile.NamedTemporaryFile("w") as key:
            key.write("secret\n")
            key.flush()
            with served("--api-key-file", key.name, api_key="secret") as client:
                client.models.list()
                with self.assertRaises(openai.AuthenticationError):
                    client.with_options(api_key="wrong").models.list()

    def test_raises_for_a_stream_that_fails(self):
        with served("--mock-error-rate", "1", "--mock-seed", "3") as client:
            for _ in range(20):
                with self.assertRaises(openai.APIError):
                    list(client.chat.completions.create(
                        model="mock", messages=MESSAGES, stream=True, max_tokens=5))

    def test_raises_for_a_connection_that_is_cut(self):
        with served("--mock-disconnect-rate", "1") as client:
            with self.assertRaises(Exception):
                list(client.chat.completions.create(
                    model="mock", messages=MESSAGES, stream=True, max_tokens=500))

    def test_retries_what_is_refused_for_now(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            with served("--mock-error-rate", "1", "--log", log, max_retries=2) as client:
                with self.assertRaises(openai.InternalServerError):
                    client.chat.completions.create(model="mock", messages=MESSAGES)
            self.assertEqual(len(log.read_text().splitlines()), 3)
            log.unlink()
            with served("--mock-error-rate", "1", "--log", log, "--no-retries",
                        max_retries=2) as client:
                with self.assertRaises(openai.InternalServerError):
                    client.chat.completions.create(model="mock", messages=MESSAGES)
            self.assertEqual(len(log.read_text().splitlines()), 1)

    def test_gives_up_when_the_server_stalls(self):
        with served("--mock-stall-rate", "1", timeout=0.5) as client:
            with self.assertRaises(openai.APITimeoutError):
                client.chat.completions.create(model="mock", messages=MESSAGES)

    def test_cancels(self):
        with tempfile.TemporaryDirectory() as folder:
            stamps = pathlib.Path(folder, "stamps")
            with served("--mock-itl-ms", "5", "--stamps", stamps) as client:
                stream = client.chat.completions.create(
                    model="mock", messages=MESSAGES, stream=True, max_tokens=30000,
                    extra_body={"ignore_eos": True}, extra_headers={"x-request-id": "left"})
                self.assertEqual(stream.response.headers["x-request-id"], "left")
                for chunk, _ in zip(stream, range(3)):
                    self.assertEqual(chunk.object, "chat.completion.chunk")
                stream.close()
            line = json.loads(stamps.read_text().splitlines()[0])
            self.assertEqual((line["request_id"], line["ending"]), ("left", "gone"))
            self.assertLess(len(line["token_ns"]), 30000)


if __name__ == "__main__":
    unittest.main()
