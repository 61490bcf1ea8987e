import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { readSseStream } from "../../../test/support/raw-stream.ts";
import {
  createRpcBody,
  createSubscribeRequest,
  decodeStreamData,
  readEventChunks,
  startTask,
} from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";
import { readMonotonicMs } from "../scripted-agents.ts";

const READERS = 50;
const CHUNKS = 2000;

export const fault: ChaosFault = {
  title:
    "50 clients that never read, and one of another address that reads, subscribe on the other node to a task of 40 MB",
  promise: "The memory of the node is bounded, and the reader receives each chunk.",
  maxSeconds: 120,
  // A server may hold 128 MiB of unread responses (`limits.bufferedBytes`), in addition to copies of the task.
  bars: { missing: 0, rssGrowthMiB: 400 },
  async inject({ startNode, addFigure, onEnd }) {
    const [owner, other] = [await startNode({ leaseMs: 15_000 }), await startNode({ leaseMs: 15_000 })];
    const url = other.getAgentUrl("fail");
    await startTask(url, "warm-up", { chunks: 10, intervalMs: 1, padding: 20_000 });
    const rssBefore = readPeakRssMiB(other.child.pid);
    const taskId = await startTask(owner.getAgentUrl("fail"), "large", {
      chunks: CHUNKS,
      intervalMs: 4,
      padding: 20_000,
    });
    const body = JSON.stringify(createRpcBody("SubscribeToTask", { id: taskId }));
    for (let reader = 0; reader < READERS; reader++) {
      const socket = connect(other.port, "127.0.0.1");
      onEnd(() => void socket.destroy());
      socket.on("error", () => {});
      socket.pause();
      socket.write(
        `POST /a2a/fail HTTP/1.1\r\nhost: 127.0.0.1:${other.port}\r\na2a-version: 1.0\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    }
    const lagsMs: number[] = [];
    const numbers = new Set<number>();
    const signal = AbortSignal.timeout(90_000);
    // A server gives each address a fair share of its memory, and refuses the 51st reader of an address.
    const request = { ...createSubscribeRequest(url, taskId), signal, localAddress: "127.0.0.2" };
    for await (const { data } of readSseStream(request))
      for (const { number, emittedAt } of readEventChunks(decodeStreamData(data))) {
        numbers.add(number);
        lagsMs.push(readMonotonicMs() - emittedAt);
      }
    addFigure("stalledReaders", READERS);
    addFigure("missing", CHUNKS - numbers.size);
    addFigure("lagP50Ms", computePercentile(lagsMs, 0.5));
    addFigure("lagP99Ms", computePercentile(lagsMs, 0.99));
    addFigure("rssGrowthMiB", readPeakRssMiB(other.child.pid) - rssBefore);
  },
};

/** Returns the peak of the resident memory of a process. Linux only; elsewhere 0. */
function readPeakRssMiB(pid: number | undefined): number {
  if (process.platform !== "linux") return 0;
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
