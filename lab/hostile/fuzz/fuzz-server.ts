import { createRandomFromText } from "../seeded-random.ts";
import { FuzzedServer } from "./fuzzed-server.ts";
import { MAX_FUZZ_FINDINGS, type FuzzFinding, type FuzzOptions, type FuzzResult } from "./fuzz-result.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import { minimizeText } from "./minimize-input.ts";
import { mutateRequest } from "./mutate-request.ts";
import { drawElement } from "./random-choice.ts";
import { SEED_REQUESTS } from "./seed-requests.ts";

const CONCURRENCY = 16;
/** Requests between two checks that the server still replies and has reported no error. */
const BATCH_SIZE = 2000;

interface RequestFinding extends FuzzFinding {
  readonly input: FuzzRequest;
}

/** Returns the fuzzed request at an index, which depends only on the seed. */
export function createFuzzRequest(seed: string, index: number): FuzzRequest {
  const random = createRandomFromText(`${seed}/server/${index}`);
  return mutateRequest(random, drawElement(random, SEED_REQUESTS));
}

/** Sends mutated requests to a server in another process, over all HTTP APIs. */
export async function fuzzServer(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, count, firstIndex = 0, deadline = Infinity, reportProgress } = options;
  const server = await FuzzedServer.start();
  const outcomes: Record<string, number> = {};
  const findings: RequestFinding[] = [];
  let sent = 0;
  try {
    while (sent < count && findings.length < MAX_FUZZ_FINDINGS && performance.now() < deadline) {
      await server.renewPlaceholders();
      const start = firstIndex + sent;
      const end = start + Math.min(BATCH_SIZE, count - sent);
      const failed: FuzzRequest[] = [];
      let next = start;
      const sendRequests = async (): Promise<void> => {
        while (next < end) {
          const request = createFuzzRequest(seed, next++);
          const { outcome, problem } = await server.send(request);
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          if (problem !== undefined) failed.push(request);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, sendRequests));
      sent += end - start;
      const faults = await server.takeFaults();
      // The server reports an error without the request. Sending the batch again one by one finds the request.
      const suspects =
        failed.length > 0 || faults.length === 0
          ? failed
          : Array.from({ length: end - start }, (_, at) => createFuzzRequest(seed, start + at));
      for (const request of suspects) {
        const finding = await reproduceFinding(server, request);
        if (finding && !findings.some((known) => isSameFinding(known, finding))) findings.push(finding);
        if (findings.length >= MAX_FUZZ_FINDINGS) break;
      }
      if (failed.length + faults.length > 0 && findings.length === 0)
        findings.push({
          problem: `not reproducible: ${faults[0] ?? "wrong response"}`,
          input: failed[0] ?? createFuzzRequest(seed, start),
        });
      reportProgress?.(sent);
    }
    return { name: "server", sent, outcomes, findings };
  } finally {
    await server.stop();
  }
}

/** Returns whether two findings have the same problem on the same route, so that one of them is enough. */
function isSameFinding(known: RequestFinding, finding: RequestFinding): boolean {
  const getKey = ({ problem, input: { surface, method, path, body } }: RequestFinding): string =>
    JSON.stringify([problem.slice(0, 60), surface, method, path, /"method":"[^"]*"/.exec(body)?.[0]]);
  return getKey(known) === getKey(finding);
}

/** Sends a request again, and shortens it if it fails again. */
async function reproduceFinding(
  server: FuzzedServer,
  request: FuzzRequest,
): Promise<RequestFinding | undefined> {
  await server.renewPlaceholders();
  const problem = await server.findRequestProblem(request);
  if (problem === undefined) return undefined;
  const stillFails = async (shorter: FuzzRequest): Promise<boolean> =>
    (await server.findRequestProblem(shorter)) !== undefined;
  let shortest = request;
  for (const name of Object.keys(request.headers)) {
    const { [name]: _, ...headers } = shortest.headers;
    if (await stillFails({ ...shortest, headers })) shortest = { ...shortest, headers };
  }
  const body = await minimizeText(shortest.body, (text) => stillFails({ ...shortest, body: text }));
  return { problem, input: { ...shortest, body } };
}
