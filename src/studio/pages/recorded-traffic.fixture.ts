import { mkdtempSync, readFileSync } from "node:fs";
import { type AddressInfo, connect as connectSocket, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { agent, status } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { createServer } from "../../server/index.ts";
import { decodeTrafficLines, type TrafficLine } from "../../observe/trace/index.ts";
import { createTrafficWriter, openTrafficFileSink } from "../../observe/trace/recording/index.ts";

/** The files of a record, and the ids of its root tasks in the order of time. */
export interface RecordedTraffic {
  readonly serverFile: string;
  readonly clientFile: string;
  readonly taskIds: readonly string[];
  readonly lines: readonly TrafficLine[];
}

/**
 * Records real traffic: a user asks a planner, which asks two solvers at the same time through a proxy. The proxy breaks
 * the first stream, so that the planner's client resumes it. Each of `questions` is one task of the planner.
 */
export async function recordPlannerTraffic(questions: readonly string[]): Promise<RecordedTraffic> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-traffic-"));
  const [serverFile, clientFile] = [join(folder, "server.jsonl"), join(folder, "client.jsonl")];
  const writer = createTrafficWriter(openTrafficFileSink(serverFile), { vantage: "server", name: "agents" });
  const solver = agent({ name: "solver", description: "Solves" }, async function* ({ text, taskId }) {
    // Many events, so that the proxy breaks the stream between two of them.
    for (let step = 1; step <= 20; step++) {
      yield status(`Step ${step} of ${text}`);
      await setTimeout(2);
    }
    const call = writer.createCallId();
    const common = { call, task_id: taskId, agent: "solver" };
    writer.write({
      kind: "tool",
      ...common,
      tool: "calculator",
      arguments: { text },
      result: 42,
      duration_ms: 1,
    });
    yield "42";
  });
  const solverServer = createServer(solver, { store: "memory", observer: false, record: writer });
  const { url: solverUrl } = await solverServer.listen();
  const proxy = await startCuttingProxy(Number(new URL(solverUrl).port));
  const planner = agent({ name: "planner", description: "Plans" }, async function* ({ text, taskId }) {
    const client = await connect(`http://127.0.0.1:${proxy.port}`, { record: clientFile });
    const ask = async (question: string): Promise<string> => {
      const metadata = {
        "urn:colloquy:extensions:parent-task:v1/parentTask": { taskId, agent: "planner" },
      };
      return (await client.ask({ parts: [{ text: question }], metadata })).text;
    };
    const answers = await Promise.all([ask(`${text}, first part`), ask(`${text}, second part`)]);
    yield `The answer to ${text} is ${answers.map((answer) => answer.slice(-2)).join(" and ")}.`;
  });
  const plannerServer = createServer(planner, { store: "memory", observer: false, record: writer });
  const { url } = await plannerServer.listen();
  const user = await connect(url, { record: clientFile });
  const taskIds: string[] = [];
  for (const question of questions) {
    const { task } = await user.ask(question);
    if (task) taskIds.push(task.id);
  }
  await plannerServer.close();
  proxy.close();
  await solverServer.close();
  await writer.close();
  const lines = [serverFile, clientFile].flatMap((file) => decodeTrafficLines(readFileSync(file, "utf8")));
  return { serverFile, clientFile, taskIds, lines };
}

/** Number of bytes of a response after which the proxy breaks its first stream. */
const CUT_AFTER_BYTES = 5_000;

/** Starts a TCP proxy that breaks the first connection with a long response. */
async function startCuttingProxy(targetPort: number): Promise<{ readonly port: number; close(): void }> {
  let hasCut = false;
  const server = createSocketServer((socket) => {
    const target = connectSocket(targetPort, "127.0.0.1");
    let bytes = 0;
    target.on("data", (chunk) => {
      bytes += chunk.length;
      if (hasCut || bytes < CUT_AFTER_BYTES) socket.write(chunk);
      else {
        hasCut = true;
        socket.destroy();
        target.destroy();
      }
    });
    socket.on("data", (chunk) => target.write(chunk));
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      one.on("close", () => other.destroy());
      one.on("error", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
