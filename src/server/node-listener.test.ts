import { once } from "node:events";
import { createServer, request as sendHttpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { toNodeListener } from "./index.ts";

async function startListener(answer: (request: Request) => Promise<Response>): Promise<string> {
  const http = createServer(toNodeListener(answer)).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await once(http, "listening");
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

it("streams the body, and sends the headers before it", async () => {
  let say!: (text: string) => void;
  const body = new ReadableStream({
    start(controller) {
      say = (text) => {
        if (text === "") controller.close();
        else controller.enqueue(new TextEncoder().encode(text));
      };
    },
  });
  const headers = new Headers({ "content-type": "text/event-stream" });
  headers.append("set-cookie", "a=1");
  headers.append("set-cookie", "b=2");
  const url = await startListener(() => Promise.resolve(new Response(body, { status: 201, headers })));
  const response = await fetch(url);
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of ["one", "two"]) {
    say(text);
    expect(await reader?.read()).toEqual({ done: false, value: text });
  }
  say("");
  expect((await reader?.read())?.done).toBe(true);
});

it("aborts the request signal when the client disconnects", async () => {
  const left = Promise.withResolvers<string>();
  const requestReceived = Promise.withResolvers<void>();
  const url = await startListener(async (request) => {
    const cancelled = Promise.withResolvers<void>();
    const body = new ReadableStream({ cancel: () => cancelled.resolve() });
    request.signal.addEventListener(
      "abort",
      () => void cancelled.promise.then(() => left.resolve(request.method)),
    );
    requestReceived.resolve();
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const leave = new AbortController();
  await fetch(url, { signal: leave.signal });
  await requestReceived.promise;
  leave.abort();
  expect(await left.promise).toBe("GET");
});

it("handles requests without a body", async () => {
  const url = await startListener((request) =>
    request.text().then((text) => new Response(null, { status: text === "hello" ? 204 : 400 })),
  );
  expect((await fetch(url, { method: "POST", body: "hello" })).status).toBe(204);
});

it.each([
  ["TRACE", "localhost"],
  ["POST", "[::1"],
])("replies with 400 to a request that `Request` does not support: %s to %s", async (method, host) => {
  const url = await startListener(() => Promise.resolve(new Response()));
  const outgoing = sendHttpRequest(url, { method, headers: { host } }).end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.resume();
  expect(incoming.statusCode).toBe(400);
});

it("takes the host of a request target in absolute form, and rejects invalid hosts", async () => {
  const url = await startListener((request) =>
    Promise.resolve(Response.json([request.url, request.headers.get("host")])),
  );
  const { port } = new URL(url);
  const send = async (path: string, host: string): Promise<string> => {
    const [incoming] = (await once(
      sendHttpRequest({ port, host: "127.0.0.1", path, headers: { host } }).end(),
      "response",
    )) as [IncomingMessage];
    return `${incoming.statusCode} ${await readText(incoming)}`;
  };
  expect(await send("http://a.example/x?y", "localhost")).toBe('200 ["http://a.example/x?y","a.example"]');
  expect(await send("/x", "a.example:80")).toBe('200 ["http://a.example/x","a.example:80"]');
  for (const [path, host] of [
    ["/x", "evil@localhost"],
    ["http://evil@localhost/x", "localhost"],
    ["/x", "localhost/evil"],
  ] as const)
    expect(await send(path, host)).toMatch(/^400 /);
});

it("a fetch handler receives a URL with http on Bun, whose sockets always have the member `encrypted`", async () => {
  const listener = toNodeListener((request) => Promise.resolve(new Response(request.url)));
  const http = createServer((incoming, outgoing) => {
    Object.defineProperty(incoming.socket, "encrypted", { value: false });
    listener(incoming, outgoing);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/card`;
  expect(await (await fetch(url)).text()).toBe(url);
});
