import { once } from "node:events";
import { constants } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Agent, Caller } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { createServer, type GrpcOptions, type Server, type ServerOptions } from "../index.ts";
import { buildTestMessage, messageCommandTestAgent } from "../server.fixture.ts";
import { hasLoopbackAliases } from "../raw-socket.fixture.ts";
import { JsonGrpcTestClient } from "./json-grpc-test-client.fixture.ts";
import {
  encodeHttp2Frame,
  encodeRawGrpcHeaders,
  encodeRawGrpcMessage,
  encodeRawGrpcPrefix,
  RawGrpcClient,
  readOutcome,
} from "./raw-grpc-client.fixture.ts";

const { RESOURCE_EXHAUSTED, UNAUTHENTICATED, UNIMPLEMENTED, INVALID_ARGUMENT, DEADLINE_EXCEEDED, OK } =
  grpc.status;
const MEBIBYTE = 2 ** 20;

let server: Server | undefined;
let port = 0;
const clients: RawGrpcClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server?.close({ graceMs: 50 });
});

async function startServer(
  options: ServerOptions = {},
  grpcOptions: GrpcOptions = {},
  agent: Agent = messageCommandTestAgent,
): Promise<RawGrpcClient> {
  server = createServer(agent, { store: "memory", observer: false, ...options });
  port = (await server.listen({ grpc: grpcOptions })).grpc?.port ?? 0;
  return connectClient();
}

function connectClient(options?: ConstructorParameters<typeof RawGrpcClient>[1]): RawGrpcClient {
  const client = new RawGrpcClient(port, options);
  clients.push(client);
  return client;
}

/** Authenticates the user that the header `x-user` names. */
function authenticateUser({
  header,
}: {
  readonly header: (name: string) => string | undefined;
}): Caller | undefined {
  const principal = header("x-user");
  return principal === undefined ? undefined : { tenant: "", principal };
}

/** Lets sockets transfer everything that flow control allows. */
async function runEventLoop(turns = 200): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

const echo = { message: buildTestMessage("echo hello") };
const listTasks = {};

describe("a caller without credentials", () => {
  it.each(["SendMessage", "SendStreamingMessage"] as const)(
    "is rejected while it still sends its message [M-01] (%s)",
    async (operation) => {
      const authenticate = vi.fn<typeof authenticateUser>(authenticateUser);
      const client = await startServer({ authenticate });
      const stream = client.start(operation);
      stream.write(encodeRawGrpcPrefix(10 * MEBIBYTE));
      stream.write(Buffer.alloc(30_000));
      expect(await readOutcome(stream)).toMatchObject({ grpcStatus: UNAUTHENTICATED, resetCode: 0 });
      expect(authenticate).toHaveBeenCalledOnce();
    },
  );

  it("cannot make the server accept more than 64 KiB of its message before the authentication is done [SEC-12]", async () => {
    const authenticated = Promise.withResolvers<void>();
    const authenticate = vi.fn<
      (request: Parameters<typeof authenticateUser>[0]) => Promise<Caller | undefined>
    >(async (request) => {
      await authenticated.promise;
      return authenticateUser(request);
    });
    const client = await startServer({ authenticate });
    const stream = client.start("ListTasks", { "x-user": "alice" });
    const outcome = readOutcome(stream);
    // An unknown field of the request, whose size the varint 0x80 0x80 0x40 encodes.
    stream.end(
      Buffer.concat([
        encodeRawGrpcPrefix(MEBIBYTE + 5),
        Buffer.from([0xfa, 0x01, 0x80, 0x80, 0x40]),
        Buffer.alloc(MEBIBYTE),
      ]),
    );
    await runEventLoop();
    expect(authenticate).toHaveBeenCalledOnce();
    expect(client.socket.bytesWritten).toBeLessThan(68_000);
    authenticated.resolve();
    expect(await outcome).toMatchObject({ grpcStatus: OK });
    expect(client.socket.bytesWritten).toBeGreaterThan(MEBIBYTE);
    expect(authenticate).toHaveBeenCalledOnce();
  });
});

describe("a gRPC caller", () => {
  it("can announce only its share of unfinished requests, and leaves room for other callers", async () => {
    const limits = { bufferedBytes: 6 * MEBIBYTE, maxBodyBytes: MEBIBYTE };
    const client = await startServer({ authenticate: authenticateUser, limits });
    const greedy = Array.from({ length: 5 }, () => {
      const stream = client.start("SendMessage", { "x-user": "greedy" });
      stream.write(encodeRawGrpcPrefix(MEBIBYTE));
      return readOutcome(stream);
    });
    const refused = await Promise.race(greedy);
    expect(refused).toMatchObject({ grpcStatus: RESOURCE_EXHAUSTED });
    expect(refused.message).toMatch(/fair share of this caller .*limits\.bufferedBytes/);
    expect(await client.call("SendMessage", echo, { "x-user": "kind" })).toMatchObject({ grpcStatus: OK });
    expect(await client.call("ListTasks", listTasks, { "x-user": "kind" })).toMatchObject({ grpcStatus: OK });
  });

  it("can have only its share of calls open, and gets the share back", async () => {
    const client = await startServer({ authenticate: authenticateUser }, { calls: 4 });
    const waiting = [1, 2].map(() => {
      const stream = client.start("SendMessage", { "x-user": "greedy" });
      stream.end(encodeRawGrpcMessage("SendMessage", { message: buildTestMessage("wait") }));
      return stream;
    });
    await runEventLoop();
    const refused = await client.call("ListTasks", listTasks, { "x-user": "greedy" });
    expect(refused).toMatchObject({ grpcStatus: RESOURCE_EXHAUSTED });
    expect(refused.message).toMatch(/^This caller has too many open gRPC calls .*"grpc\.calls"/);
    expect(await client.call("ListTasks", listTasks, { "x-user": "kind" })).toMatchObject({ grpcStatus: OK });
    for (const stream of waiting) stream.close(constants.NGHTTP2_CANCEL);
    await vi.waitFor(
      async () => {
        const outcome = await client.call("ListTasks", listTasks, { "x-user": "greedy" });
        expect(outcome).toMatchObject({ grpcStatus: OK });
      },
      { timeout: 30_000 },
    );
  });

  it("can have only its address's share of connections", async () => {
    const client = await startServer({}, { connections: 2 });
    expect(await client.call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
    await connectClient().closed;
    if (hasLoopbackAliases) {
      const other = connectClient({ localAddress: "127.0.0.2" });
      expect(await other.call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
    }
    client.close();
    await vi.waitFor(
      async () => {
        const again = connectClient();
        expect(await again.call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
      },
      { timeout: 30_000 },
    );
  });

  it("that does not read its responses can make the server hold only its share of responses", async () => {
    const limits = { bufferedBytes: 12 * MEBIBYTE };
    await startServer({ authenticate: authenticateUser, limits });
    const json = new JsonGrpcTestClient(port);
    const large = { message: buildTestMessage(`echo ${"x".repeat(MEBIBYTE)}`) };
    const sent = await json.callUnary("SendMessage", large, { "x-user": "greedy" });
    const { id } = (sent.answer as unknown as { task: Task }).task;
    const lazy = connectClient({ initialWindowSize: 0 });
    const unread = Array.from({ length: 5 }, () => {
      const stream = lazy.start("GetTask", { "x-user": "greedy" });
      stream.end(encodeRawGrpcMessage("GetTask", { id }));
      return stream;
    });
    const statuses = await Promise.all(
      unread.map(async (stream) => {
        const [headers] = (await once(stream, "response")) as [Record<string, string>];
        return headers["grpc-status"];
      }),
    );
    // A response that waits has no status yet.
    expect(statuses.filter((status) => status === undefined).length).toBeLessThanOrEqual(2);
    expect(statuses.filter((status) => status === "8").length).toBeGreaterThanOrEqual(3);
    const kind = await json.callUnary("SendMessage", echo, { "x-user": "kind" });
    expect(kind.ended).toBeUndefined();
    for (const stream of unread) stream.close(constants.NGHTTP2_CANCEL);
    await vi.waitFor(
      async () => {
        const { answer } = await json.callUnary("GetTask", { id }, { "x-user": "greedy" });
        expect(answer).toMatchObject({ id });
      },
      { timeout: 30_000 },
    );
    json.close();
  });

  it("that stops reading is disconnected after the write-stall time, and reported", async () => {
    const onReaderStalled = vi.fn<() => void>();
    await startServer({ limits: { writeStallMs: 100 }, observer: { onReaderStalled } });
    const lazy = connectClient({ initialWindowSize: 0 });
    const stream = lazy.start("ListTasks");
    stream.end(encodeRawGrpcMessage("ListTasks", {}));
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(onReaderStalled).toHaveBeenCalledOnce();
  });

  it("that sends a compressed message is refused before the message is decompressed [SEC-13]", async () => {
    const client = await startServer();
    const bomb = gzipSync(Buffer.alloc(10 * MEBIBYTE));
    expect(bomb.length).toBeLessThan(20_000);
    const stream = client.start("SendMessage", { "grpc-encoding": "gzip" });
    stream.end(Buffer.concat([encodeRawGrpcPrefix(bomb.length, 1), bomb]));
    expect(await readOutcome(stream)).toMatchObject({ grpcStatus: UNIMPLEMENTED });
  });

  it("that sends no message, half a message, or two messages receives an error [E-05]", async () => {
    const client = await startServer();
    const message = encodeRawGrpcMessage("ListTasks", {});
    for (const body of [Buffer.alloc(0), encodeRawGrpcPrefix(10), Buffer.concat([message, message])]) {
      const stream = client.start("ListTasks");
      stream.end(body);
      expect(await readOutcome(stream)).toMatchObject({ grpcStatus: INVALID_ARGUMENT });
    }
  });
});

describe("the headers of a gRPC call", () => {
  it("select gRPC by method and media type, and other requests receive an HTTP status [E-02]", async () => {
    const client = await startServer();
    const callWith = async (headers: Record<string, string | undefined>): Promise<number | undefined> =>
      (await client.call("ListTasks", listTasks, headers)).httpStatus;
    expect(await callWith({ ":method": "PUT" })).toBe(405);
    const rejected = [
      "application/json",
      "application/grpc-web",
      "application/grpc+json",
      "application/grpcx",
    ];
    for (const contentType of [...rejected, undefined])
      expect(await callWith({ "content-type": contentType })).toBe(415);
    for (const contentType of ["application/grpc+proto", "application/grpc; charset=utf-8"])
      expect(await client.call("ListTasks", listTasks, { "content-type": contentType })).toMatchObject({
        grpcStatus: OK,
      });
    expect(await client.call("ListTasks", listTasks, { te: undefined })).toMatchObject({ grpcStatus: OK });
    const unknown = await client.call("ListTasks", listTasks, { ":path": "/lf.a2a.v1.A2AService/Nope" });
    expect(unknown).toMatchObject({ grpcStatus: UNIMPLEMENTED });
  });

  it("can contain an absurd timeout, and an invalid timeout is the client's fault", async () => {
    const client = await startServer();
    const callWith = (timeout: string): ReturnType<RawGrpcClient["call"]> =>
      client.call("ListTasks", listTasks, { "grpc-timeout": timeout });
    expect(await callWith("99999999H")).toMatchObject({ grpcStatus: OK });
    for (const timeout of ["", "-1S", "999999999S", "1e9S", "soon"])
      expect(await callWith(timeout)).toMatchObject({ grpcStatus: INVALID_ARGUMENT });
    const waiting = { message: buildTestMessage("wait") };
    expect(await client.call("SendMessage", waiting, { "grpc-timeout": "1m" })).toMatchObject({
      grpcStatus: DEADLINE_EXCEEDED,
    });
  });

  it("are refused if they are larger than 16 KiB, and the connection continues", async () => {
    const client = await startServer();
    const huge = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, "v".repeat(1_000)]));
    expect(await client.call("ListTasks", listTasks, huge)).toMatchObject({ httpStatus: 431 });
    expect(await client.call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
  });

  it("cannot contain control characters", async () => {
    const authenticate = vi.fn<typeof authenticateUser>(authenticateUser);
    const client = await startServer({ authenticate });
    const { grpcStatus } = await client.call("ListTasks", listTasks, { "x-user": "a\nb\u0000\u001bc" });
    expect(grpcStatus).toBeUndefined();
    expect(authenticate).not.toHaveBeenCalled();
    const next = await connectClient().call("ListTasks", listTasks, { "x-user": "alice" });
    expect(next).toMatchObject({ grpcStatus: OK });
  });
});

describe("a connection is closed", () => {
  it("if its client opens and resets calls rapidly", async () => {
    const client = await startServer();
    for (let call = 0; call < 5_000 && !client.session.closed; call++) {
      client.start("ListTasks").close(constants.NGHTTP2_CANCEL);
      if (call % 100 === 0) await new Promise(setImmediate);
    }
    await client.closed;
    expect(await connectClient().call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
  });

  it.each([
    ["pings", encodeHttp2Frame(6, 0, 0, Buffer.alloc(8))],
    ["settings", encodeHttp2Frame(4, 0, 0, Buffer.alloc(0))],
    ["empty data frames", encodeHttp2Frame(0, 0, 1, Buffer.alloc(0))],
  ])("if its client sends a flood of %s and does not read", async (_name, frame) => {
    await startServer();
    const socket = connect(port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    const settings = encodeHttp2Frame(4, 0, 0, Buffer.alloc(0));
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(Buffer.concat([preface, settings, encodeRawGrpcHeaders()]));
    const flood = Buffer.concat(Array.from({ length: 1_000 }, () => frame));
    socket.pause();
    for (let round = 0; round < 2_000 && !socket.destroyed; round++) {
      if (!socket.write(flood)) await Promise.race([once(socket, "drain").catch(() => {}), closed]);
    }
    socket.resume();
    await closed;
    expect(await connectClient().call("ListTasks", listTasks)).toMatchObject({ grpcStatus: OK });
  });
});

it("a refused request message frees the place of its call, also if the client never ends the message", async () => {
  const client = await startServer({}, { calls: 2 });
  for (let attempt = 0; attempt < 3; attempt++) {
    const stream = client.start("ListTasks");
    stream.write(Buffer.concat([encodeRawGrpcPrefix(11 * MEBIBYTE), Buffer.alloc(30_000)]));
    expect(await readOutcome(stream)).toMatchObject({ message: expect.stringMatching(/exceeds/) as string });
  }
});
