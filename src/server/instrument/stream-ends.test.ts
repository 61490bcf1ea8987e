import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../client/index.ts";
import type { Agent, AgentEvent } from "../../engine/index.ts";
import { decodeTrafficLines, type StreamEndLine, type TrafficLine } from "../../observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { createServer, type Server, type ServerOptions } from "../index.ts";
import { RawGrpcClient } from "../bindings/raw-grpc-client.fixture.ts";
import { formatRawPostHead, openRawTestSocket } from "../raw-socket.fixture.ts";

/** Works until the task is canceled. The text of the message is the length of the first artifact. */
const endlessAgent: Agent = {
  describe: () => ({ name: "endless", description: "Works", capabilities: { streaming: true } }),
  async *execute({ message: { parts }, signal }): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    const [part] = parts;
    const length = part && "text" in part ? Number(part.text) : 0;
    yield { artifact: { artifactId: "a", parts: [{ text: "x".repeat(length) }] } };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  },
};

interface RecordedServer {
  readonly server: Server;
  readonly url: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly countFrames: () => Promise<number>;
  readonly readEnds: () => Promise<StreamEndLine[]>;
}

async function startServer(options: ServerOptions = {}): Promise<RecordedServer> {
  const sink = createMemoryTrafficSink();
  const record = createTrafficWriter(sink, { vantage: "server", name: "test" });
  const server = createServer(endlessAgent, { store: "memory", observer: false, record, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url, port, grpc } = await server.listen({ grpc: true });
  const readLines = async (): Promise<TrafficLine[]> => {
    await record.flush();
    return decodeTrafficLines(sink.text());
  };
  return {
    server,
    url,
    port,
    grpcPort: grpc?.port ?? 0,
    countFrames: async () => (await readLines()).filter(({ kind }) => kind === "frame").length,
    readEnds: async () => (await readLines()).flatMap((line) => (line.kind === "stream-end" ? [line] : [])),
  };
}

function formatStreamRequest(text: string): string {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } });
  return formatRawPostHead("/", { "a2a-version": "1.0", "content-length": body.length }) + body;
}

describe("the end of a stream in the record of a server", () => {
  it("is canceled if the reader closes the connection in good order", async () => {
    const started = await startServer();
    const { socket, readText } = await openRawTestSocket(started.port);
    socket.write(formatStreamRequest("1"));
    await expect.poll(readText).toContain("artifactUpdate");
    socket.end();
    await expect.poll(started.readEnds).toMatchObject([{ reason: "canceled" }]);
  });

  it("is a cut with its cause if the connection breaks", async () => {
    const started = await startServer();
    const { socket, readText } = await openRawTestSocket(started.port);
    socket.write(formatStreamRequest("1"));
    await expect.poll(readText).toContain("artifactUpdate");
    socket.resetAndDestroy();
    await expect.poll(started.readEnds).toMatchObject([{ reason: "cut", error: "ECONNRESET" }]);
  });

  it("is a stall if the reader takes no bytes", async () => {
    const started = await startServer({ limits: { writeStallMs: 200 } });
    const { socket } = await openRawTestSocket(started.port, { isPaused: true });
    socket.pause();
    socket.write(formatStreamRequest("9000000"));
    await expect.poll(started.readEnds).toMatchObject([{ reason: "stalled" }]);
  });

  it("is canceled if a client of Colloquy leaves the stream, over each binding", async () => {
    for (const binding of ["JSONRPC", "HTTP+JSON", "GRPC"] as const) {
      const started = await startServer();
      const client = await connect(started.url, { binding });
      for await (const event of client.stream("1")) if ("artifactUpdate" in event) break;
      await expect.poll(started.readEnds).toMatchObject([{ reason: "canceled" }]);
    }
  });

  it("is a cut if the connection of a gRPC call breaks", async () => {
    const started = await startServer();
    const client = new RawGrpcClient(started.grpcPort);
    void client.call("SendStreamingMessage", {
      message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "1" }] },
    });
    await expect.poll(started.countFrames).toBeGreaterThan(0);
    client.socket.resetAndDestroy();
    await expect.poll(started.readEnds).toMatchObject([{ reason: "cut" }]);
  });
});
