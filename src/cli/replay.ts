import { Command, InvalidArgumentError } from "commander";
import { resolve } from "node:path";
import type { RecordedAgent } from "../studio/tap/index.ts";
import type { CliContext } from "./cli-context.ts";
import { pluralize } from "./cards/text-table.ts";
import { createUsageError } from "./cli-error.ts";
import { parsePort } from "./client-options.ts";
import { waitForAbort } from "./wait-for-abort.ts";

interface ReplayCommandOptions {
  agent?: string;
  port: number;
  grpcPort?: number;
  speed: number | "max";
}

export function createReplayCommand(context: CliContext): Command {
  return new Command("replay")
    .usage("<file> [options]")
    .argument("<file>", "record of colloquy tap, or of a server or client with --record")
    .option("--agent <name>", "agent to serve (default: the only agent of the record)")
    .option("--port <number>", "port on 127.0.0.1, 0 for any free port", parsePort, 4150)
    .option("--grpc-port <number>", "port for gRPC on 127.0.0.1 (default: any free port)", parsePort)
    .option("--speed <factor>", "factor of the recorded speed, or max for no delays", parseSpeed, 1)
    .addHelpText(
      "after",
      `
Serves a recorded agent over JSON-RPC, HTTP+JSON, and gRPC. A message with the content of a recorded message receives the
recorded response. Other requests receive an error.

Examples:
  colloquy replay traffic.jsonl
  colloquy replay run.jsonl --agent solver --speed max`,
    )
    .action((file: string, options: ReplayCommandOptions) => runReplay(file, options, context));
}

async function runReplay(
  file: string,
  { agent: name, port, grpcPort, speed }: ReplayCommandOptions,
  { streams, cwd, interruptSignal }: CliContext,
): Promise<void> {
  const [{ collectRecordedAgents, startReplay }, { readTrafficFile }] = await Promise.all([
    import("../studio/tap/index.ts"),
    import("../observe/trace/recording/index.ts"),
  ]);
  const lines = [];
  try {
    for await (const line of readTrafficFile(resolve(cwd, file))) lines.push(line);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw createUsageError(
      `The record ${file} cannot be read: ${reason}.`,
      "Pass a file of colloquy tap.",
      error,
    );
  }
  const agent = selectAgent(collectRecordedAgents(lines), name, file);
  const replay = await startReplay(agent, {
    port,
    ...(grpcPort === undefined ? {} : { grpcPort }),
    speed,
    onMiss: (text) => streams.err(`Warning: ${text}\n`),
  });
  try {
    const { exchanges, incompleteRequests } = agent;
    streams.out(`${replay.url} replays ${agent.name} with ${pluralize(exchanges.length, "request")}\n`);
    if (replay.grpcAddress !== undefined) streams.out(`gRPC: ${replay.grpcAddress}\n`);
    else if (grpcPort !== undefined)
      throw createUsageError(
        "gRPC requires two additional packages.",
        "npm install @grpc/grpc-js @bufbuild/protobuf",
      );
    streams.out("Ctrl-C stops it.\n");
    if (incompleteRequests > 0)
      streams.err(
        `Warning: The record lacks the bodies of ${pluralize(incompleteRequests, "request")}, which cannot be replayed.\n`,
      );
    await waitForAbort(interruptSignal);
  } finally {
    await replay.close();
  }
}

function selectAgent(
  agents: readonly RecordedAgent[],
  name: string | undefined,
  file: string,
): RecordedAgent {
  const names = agents.map((agent) => agent.name).join(", ");
  const [first] = agents;
  if (!first)
    throw createUsageError(
      `The record ${file} contains no A2A requests.`,
      "Record requests with colloquy tap.",
    );
  if (name === undefined && agents.length === 1) return first;
  if (name === undefined)
    throw createUsageError(`The record contains several agents: ${names}.`, "Select one with --agent.");
  const found = agents.find((agent) => agent.name === name);
  if (found) return found;
  throw createUsageError(
    `The record contains no agent ${JSON.stringify(name)}.`,
    `Its agents are: ${names}.`,
  );
}

function parseSpeed(text: string): number | "max" {
  const speed = Number(text);
  if (text === "max" || (text !== "" && speed > 0 && speed <= 1_000)) return text === "max" ? "max" : speed;
  throw new InvalidArgumentError("Pass a factor from above 0 to 1,000, or max.");
}
