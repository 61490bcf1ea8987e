import { Command } from "commander";
import { resolve } from "node:path";
import { A2AError } from "../protocol/index.ts";
import type { TapCallSummary, TapTarget } from "../studio/tap/index.ts";
import { assertRecordWritable } from "./assert-record-writable.ts";
import type { CliContext } from "./cli-context.ts";
import { createUsageError, toCliError } from "./cli-error.ts";
import { appendValue, createOutputOption, parsePort } from "./client-options.ts";
import { addOptionRows } from "./option-rows.ts";
import type { OutputFormat } from "./output-writer.ts";
import { readPackageVersion } from "./package-version.ts";
import { waitForAbort } from "./wait-for-abort.ts";

interface TapCommandOptions {
  to?: string[];
  port: number;
  record: string;
  bodies: boolean;
  fault?: string[];
  host: string;
  allowUnauthenticated?: boolean;
  insecure?: boolean;
  quiet?: boolean;
  output: OutputFormat;
}

const OPTION_ROWS = `
--to <url>  agent or host to forward to, as URL or NAME=URL; repeatable, each target has its own port
--port <number>  port for the first target, 0 for any free port; further targets have the next ports
--record <file>  file to which the record is appended
--no-bodies  record ids, states, and times, but no content
--fault <rule>  fault to inject, such as cut:after=3; repeatable (default: none)
--host <address>  address to listen on
--allow-unauthenticated  accept requests of other machines, which the tap does not authenticate
--insecure  accept any TLS certificate of the agents, for development (default: they are verified)
--quiet  print no line for each call`;

export function createTapCommand(context: CliContext): Command {
  return addOptionRows(new Command("tap"), OPTION_ROWS, {
    values: { fault: appendValue, port: parsePort, to: appendValue },
    defaults: { host: ["127.0.0.1"], port: [4140], record: ["traffic.jsonl"] },
  })
    .usage("--to <url> [options]")
    .addOption(createOutputOption())
    .addHelpText(
      "after",
      `
The tap forwards requests to agents of any vendor, records them, and directs the URLs in agent cards to itself.

Faults:
  cut:after=3            break a stream after 3 events
  delay:ms=500           delay a request
  429:retry-after=2      reply with an HTTP error status instead of the agent
  drop, drop:frame=2     withhold the response, or event 2 of a stream
  duplicate:frame=2      send event 2 of a stream twice
  slow:bytes-per-s=1000  slow down the response
  kill:ms=2000           reset all connections, and refuse new ones for a time
Each fault accepts match=OPERATION, agent=NAME, every=N, times=N, chance=P, and seed=N.

Examples:
  colloquy tap --to http://127.0.0.1:4120
  colloquy tap --to planner=http://127.0.0.1:4120 --to solver=http://127.0.0.1:4121 --record run.jsonl
  colloquy tap --to http://127.0.0.1:4120 --fault cut:after=3,every=2 --fault 429:match=SendMessage,chance=0.1`,
    )
    .action((options: TapCommandOptions) => runTap(options, context));
}

async function runTap(options: TapCommandOptions, context: CliContext): Promise<void> {
  const { to = [], fault: faults = [], output } = options;
  if (to.length === 0)
    throw createUsageError(
      "No agent is named. Pass its URL with --to.",
      "colloquy tap --to http://127.0.0.1:4120",
    );
  const [{ startTap }, { openTrafficRecord }] = await Promise.all([
    import("../studio/tap/index.ts"),
    import("../observe/trace/recording/index.ts"),
  ]);
  const { streams } = context;
  const file = resolve(context.cwd, options.record);
  await assertRecordWritable(file);
  const warn = (text: string): void => streams.err(`Warning: ${text}\n`);
  const record = openTrafficRecord(
    { file, bodies: options.bodies },
    {
      vantage: "tap",
      name: "tap",
      code: readPackageVersion(),
      onLoss: (cause) =>
        warn(`The record ${file} is incomplete: ${cause instanceof Error ? cause.message : String(cause)}`),
    },
  );
  try {
    const tap = await startTap({
      targets: to.map(parseTapTarget),
      writer: record.writer,
      port: options.port,
      host: options.host,
      allowUnauthenticated: options.allowUnauthenticated ?? false,
      faults,
      verifyCertificates: !options.insecure,
      onWarning: warn,
      ...(options.quiet ? {} : { onCallEnd: (call: TapCallSummary) => streams.err(renderCall(call)) }),
    }).catch((error: unknown) => {
      throw toStartError(error);
    });
    try {
      const { targets, control } = tap;
      const { url, token } = control;
      if (output === "json")
        streams.out(`${JSON.stringify({ targets, record: file, control: { url, token } }, undefined, 2)}\n`);
      else {
        for (const target of targets) streams.out(`${target.url} forwards to ${target.target}\n`);
        streams.out(`Record: ${file}\nControl: ${url} (Authorization: Bearer ${token})\nCtrl-C stops it.\n`);
      }
      await waitForAbort(context.interruptSignal);
    } finally {
      await tap.close();
    }
  } finally {
    await record.close();
  }
}

/** Parses `URL` or `NAME=URL`. A URL has a colon or a slash before its first equals sign. */
function parseTapTarget(text: string): TapTarget {
  const [, name, url] = /^([^:/?#=]+)=(.+)$/s.exec(text) ?? [];
  return name === undefined || url === undefined ? { url: text } : { name, url };
}

/** Options of the command for the options of `startTap`, by the names in error messages. */
const OPTION_REMEDIES: ReadonlyMap<string, string> = new Map([
  ["fault", "Correct the rule of --fault. colloquy tap --help lists the faults."],
  ["host", "Listen on 127.0.0.1 with --host, or pass --allow-unauthenticated to accept all callers."],
  ["targets", "Pass the URL of an agent with --to."],
]);

function toStartError(error: unknown): unknown {
  if (error instanceof A2AError && error.reason === "INVALID_PARAMS") {
    const remedy = OPTION_REMEDIES.get(error.violations[0]?.field ?? "");
    return createUsageError(error.message, remedy ?? "colloquy tap --help lists the options.", error);
  }
  return toCliError(error);
}

function renderCall({ agent, operation, status, frames, problem, durationMs }: TapCallSummary): string {
  const parts = [agent, operation, status ?? "no response"];
  if (frames !== undefined) parts.push(`${frames} frames`);
  parts.push(`${Math.round(durationMs)} ms`);
  if (problem !== undefined) parts.push(problem);
  // Agents and clients choose names, methods, and errors, and must not forge lines.
  return `${parts.join("  ").replaceAll("\n", " ")}\n`;
}
