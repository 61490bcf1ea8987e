"""The bearer token that a test server requires with `--token TOKEN`."""

import sys

REQUIRED_TOKEN = sys.argv[sys.argv.index("--token") + 1] if "--token" in sys.argv else None


def require_bearer_token(app):
    """Returns the ASGI app with an answer 401 to requests without the token. The agent card is public."""

    async def secured(scope, receive, send) -> None:
        is_public = scope["type"] != "http" or scope["path"].startswith("/.well-known/")
        if is_public or dict(scope["headers"]).get(b"authorization") == f"Bearer {REQUIRED_TOKEN}".encode():
            await app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body"})

    return app if REQUIRED_TOKEN is None else secured


def create_grpc_interceptors() -> list:
    """Returns an interceptor that refuses unary calls without the token."""
    import grpc

    async def refuse(_, context) -> None:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "The token is wrong.")

    class RequireBearerToken(grpc.aio.ServerInterceptor):
        async def intercept_service(self, continuation, details):
            if dict(details.invocation_metadata).get("authorization") == f"Bearer {REQUIRED_TOKEN}":
                return await continuation(details)
            return grpc.unary_unary_rpc_method_handler(refuse)

    return [] if REQUIRED_TOKEN is None else [RequireBearerToken()]
