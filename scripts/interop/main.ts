/**
 * Our server and client with the official SDKs of other languages, in every binding and version that they have: their
 * clients against our server, our client against their servers. Takes Python and Go where they are at hand, and says what
 * it leaves out. A failure that test/interop/expected.json does not name fails the run, and so does a named one that does
 * not happen.
 *
 *   npm run interop -- [--only python|go|0.3] [--json]
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createServer } from "../../src/server/index.ts";
import { obedient } from "../../test/interop/obedient.ts";
import { type ExpectedFailure, judge } from "../tck/judge.ts";
import { type Command, type Peer, PEERS, type Ready } from "./peers.ts";
import { callAsUs } from "./scenarios.ts";
import { type Outcome, type Way, WAYS } from "./ways.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, json: { type: "boolean", default: false } },
});

const DIRECTIONS = ["their client", "our client"] as const;

interface Row extends Way, Outcome {
  readonly peer: string;
  readonly sdk: string;
  readonly direction: (typeof DIRECTIONS)[number];
}

const say = (line: string): void => (values.json ? console.error(line) : console.log(line));
const expected = JSON.parse(
  readFileSync(new URL("../../test/interop/expected.json", import.meta.url), "utf8"),
) as ExpectedFailure[];
const rows: Row[] = [];
const skipped: { readonly peer: string; readonly why: string }[] = [];
let surprises = 0;

const server = createServer(obedient, { store: "memory", push: { allowPrivate: true } });
const { url: ourUrl } = await server.listen({ grpc: true });
for (const peer of PEERS.filter(({ name }) => name.includes(values.only))) {
  const ready = await peer.setUp(say);
  if (typeof ready === "string") {
    skipped.push({ peer: peer.name, why: ready });
    say(`${peer.sdk}: left out, because ${ready}`);
  } else surprises += await meet(peer, ready);
}
await server.close();
if (values.json) console.log(JSON.stringify({ rows, skipped, surprises }, undefined, 2));
process.exit(surprises === 0 ? 0 : 1);

/** All ways in both directions; answers how many outcomes were not expected. */
async function meet(peer: Peer, ready: Ready): Promise<number> {
  const theirs = start(ready.server);
  let unexpected = 0;
  try {
    const theirUrl = await firstUrl(theirs, ready.server);
    for (const direction of DIRECTIONS) {
      const met: Row[] = [];
      for (const way of WAYS.filter(peer.speaks)) {
        const outcomes =
          direction === "our client" ? callAsUs(theirUrl, way) : callAsThem(ready.client(ourUrl, way));
        for await (const outcome of outcomes) {
          met.push({ peer: peer.name, sdk: peer.sdk, direction, ...way, ...outcome });
        }
      }
      rows.push(...met);
      say(`${peer.sdk}, ${direction}:`);
      for (const line of table(met)) say(line);
      unexpected += judge(reportOf(met), `${peer.name}, ${direction}`, expected, say);
    }
  } finally {
    theirs.stdin?.end();
    theirs.kill();
  }
  return unexpected;
}

/** A program that says nothing of how it went has not gone well. */
async function* callAsThem(command: Command): AsyncGenerator<Outcome> {
  const client = start(command);
  let count = 0;
  for await (const line of linesOf(client)) {
    count += 1;
    yield JSON.parse(line) as Outcome;
  }
  if (client.exitCode === null) await new Promise((resolve) => client.once("exit", resolve));
  if (client.exitCode !== 0)
    yield { scenario: "run", ok: false, detail: `ended with ${client.exitCode} after ${count}` };
}

/** What their programs say beside is of their own inside: a server prints each error that it answers. */
function start([program, ...args]: Command): ChildProcess {
  return spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
}

async function firstUrl(child: ChildProcess, command: Command): Promise<string> {
  for await (const line of linesOf(child)) return (JSON.parse(line) as { url: string }).url;
  throw new Error(`${command.join(" ")} ended before it listened`);
}

function linesOf({ stdout }: ChildProcess): AsyncIterable<string> {
  if (!stdout) throw new Error("the program has no output");
  return createInterface({ input: stdout });
}

/** One line per scenario, one column per way. */
function table(met: readonly Row[]): string[] {
  const width = Math.max(...met.map(({ scenario }) => scenario.length));
  const ways = WAYS.filter((way) =>
    met.some((row) => row.version === way.version && row.binding === way.binding),
  );
  const head = ways.map(({ binding, version }) => `${binding} ${version}`);
  const lines = [...new Set(met.map(({ scenario }) => scenario))].map((scenario) => {
    const cells = ways.map(({ binding, version }, index) => {
      const row = met.find(
        (one) => one.scenario === scenario && one.binding === binding && one.version === version,
      );
      return (row === undefined ? "–" : row.ok ? "ok" : "FAILED").padEnd(head[index]?.length ?? 0);
    });
    return `  ${scenario.padEnd(width)}  ${cells.join("  ")}`;
  });
  return [`  ${" ".repeat(width)}  ${head.join("  ")}`, ...lines];
}

function reportOf(met: readonly Row[]): Parameters<typeof judge>[0] {
  const failed = met.filter(({ ok }) => !ok);
  return {
    passed: met.length - failed.length,
    skipped: 0,
    failed: new Map(
      failed.map(({ binding, version, scenario, detail = "" }) => [
        `${binding} ${version}: ${scenario}`,
        detail,
      ]),
    ),
  };
}
