"""The server that ours is held against: the same answers by FastAPI. uvicorn runs it."""

import time

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel


class Message(BaseModel):
    role: str
    content: str


class Asked(BaseModel):
    model: str
    messages: list[Message]
    max_tokens: int = 16
    stream: bool = False


app = FastAPI()
CHUNK = ('data: {{"id":"chatcmpl-1","object":"chat.completion.chunk","created":{},"model":"mock",'
         '"system_fingerprint":"f","choices":[{{"index":0,"delta":{{"content":" the"}},'
         '"logprobs":null,"finish_reason":null}}]}}\n\n')


@app.get("/health")
def health():
    return {"status": "ok"}


@app.post("/v1/chat/completions")
async def chat(asked: Asked):
    if asked.stream:
        async def frames():
            for _ in range(asked.max_tokens):
                yield CHUNK.format(int(time.time()))
            yield "data: [DONE]\n\n"
        return StreamingResponse(frames(), media_type="text/event-stream")
    usage = {"prompt_tokens": 9, "completion_tokens": asked.max_tokens,
             "total_tokens": 9 + asked.max_tokens}
    message = {"role": "assistant", "content": " the" * asked.max_tokens, "refusal": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": int(time.time()),
            "model": asked.model, "system_fingerprint": "f", "usage": usage,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]}
