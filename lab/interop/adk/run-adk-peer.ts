import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario, ScriptedAgentFile } from "../programs/adk/scripted-agent-file.ts";
import type { SessionReport } from "../programs/adk/session-report.ts";
import { repositoryRoot } from "../install-programs.ts";
import type { CallDirection, InteropResult, InteropSuite } from "../interop-result.ts";
import type { ProgramCommand } from "../sdk-peers.ts";
import { type AdkPeer, JS_PROGRAM } from "./adk-peers.ts";
import { GENERATOR_SCENARIOS } from "./generator-scenarios.ts";
import { JsonLinesProcess } from "./json-lines-process.ts";
import type { OurServersProcess } from "./our-servers-process.ts";
import { digestSession, listDigestDifferences, type SessionDigest } from "./session-digest.ts";

const SCENARIO_TIMEOUT_MS = 30_000;
const START_TIMEOUT_MS = 60_000;
const scriptPath = join(repositoryRoot, "lab/interop/programs/adk/scripted-agent.json");
const { scenarios } = JSON.parse(readFileSync(scriptPath, "utf8")) as ScriptedAgentFile;
const { resume: _, ...scenariosWithoutRestart } = scenarios;
/**
 * The servers of the peers lose their tasks in a restart, so our client resumes a broken stream instead. The
 * stream breaks after each of its first events in turn.
 */
const cutScenarios = Object.fromEntries(
  [1, 2, 3, 4, 5].map((cutAfterEvents) => [
    `resume ${cutAfterEvents}`,
    { ...scenarios["stream"], cutAfterEvents },
  ]),
);

/** Generator scenarios that the test agents of the A2A SDKs support. */
const { files: _files, ...SDK_AGENT_SCENARIOS } = GENERATOR_SCENARIOS;

const findGeneratorDigest = (scenario: string): SessionDigest | undefined =>
  GENERATOR_SCENARIOS[scenario]?.wanted;

/**
 * Runs the ADK scenarios with a peer in all directions. A scenario succeeds if the caller's session equals
 * the session of the peer's bare Runner.
 */
export async function* runAdkPeer(
  { name, sdk }: AdkPeer,
  program: ProgramCommand,
  ours: OurServersProcess,
  sdkServer?: ProgramCommand,
): AsyncGenerator<InteropResult> {
  const bare = new Map<string, SessionDigest>();
  for await (const { scenario, digest } of digestScenarios([...program, "run", "bare"], scenarios)) {
    if (digest instanceof Error) throw new Error(`${sdk} cannot run ${scenario}`, { cause: digest });
    bare.set(scenario, digest);
  }
  const compare = async function* (
    suite: InteropSuite,
    direction: CallDirection,
    sessions: AsyncIterable<DigestedScenario>,
    findWanted: (scenario: string) => SessionDigest | undefined,
  ): AsyncGenerator<InteropResult> {
    for await (const { scenario, digest } of sessions) {
      const wanted = findWanted(scenario);
      if (!wanted) throw new Error(`${scenario} has no wanted session.`);
      const detail =
        digest instanceof Error ? digest.message : listDigestDifferences(digest, wanted).join("; ");
      yield { suite, peer: name, sdk, direction, scenario, ok: detail === "", ...(detail && { detail }) };
    }
  };
  const getBare = (scenario: string): SessionDigest | undefined => bare.get(scenario);
  if (sdkServer) {
    const theirs = new JsonLinesProcess(sdkServer);
    try {
      const { url } = await theirs.read<{ url: string }>(START_TIMEOUT_MS);
      const own = digestScenarios([...program, "run", url], SDK_AGENT_SCENARIOS);
      yield* compare("generators", "own server", own, findGeneratorDigest);
    } finally {
      await theirs.kill();
    }
  }
  const ownServer = new JsonLinesProcess([...program, "own-server"]);
  try {
    const { url } = await ownServer.read<{ url: string }>(START_TIMEOUT_MS);
    const own = digestScenarios([...program, "run", url], scenariosWithoutRestart);
    yield* compare("ADK", "own server", own, getBare);
  } finally {
    await ownServer.kill();
  }
  const theirs = new JsonLinesProcess([...program, "server"]);
  try {
    const { url } = await theirs.read<{ url: string }>(START_TIMEOUT_MS);
    const { adk, generator } = await ours.getUrls();
    const client = digestScenarios([...program, "run", adk], scenarios, () => ours.killAndRestart());
    yield* compare("ADK", "their client", client, getBare);
    const counted = digestScenarios([...program, "run", generator], GENERATOR_SCENARIOS);
    yield* compare(
      "generators",
      "their client",
      counted,
      (scenario) => GENERATOR_SCENARIOS[scenario]?.wanted,
    );
    const command = [...JS_PROGRAM, "run-colloquy", url] as const;
    yield* compare("ADK", "our client", digestScenarios(command, scenariosWithoutRestart), getBare);
    const cuts = compare("ADK", "our client", digestScenarios(command, cutScenarios), () =>
      getBare("stream"),
    );
    yield await joinResults("resume", cuts);
  } finally {
    await theirs.kill();
  }
}

/** Joins the results of several runs into one result, which succeeds if all runs succeed. */
async function joinResults(scenario: string, results: AsyncIterable<InteropResult>): Promise<InteropResult> {
  const all: InteropResult[] = [];
  for await (const result of results) all.push(result);
  const failed = all.filter(({ ok }) => !ok);
  const detail = failed.map((result) => `${result.scenario}: ${result.detail}`).join("; ");
  const { detail: _, ...first } = all[0] as InteropResult;
  return { ...first, scenario, ok: failed.length === 0, ...(detail && { detail }) };
}

interface DigestedScenario {
  readonly scenario: string;
  readonly digest: SessionDigest | Error;
}

/** Runs scenarios in one process. A scenario that hangs or crashes costs its process. */
async function* digestScenarios(
  command: ProgramCommand,
  runs: Readonly<Record<string, Partial<Scenario>>>,
  interrupt: () => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<DigestedScenario> {
  let program: JsonLinesProcess | undefined;
  try {
    for (const [scenario, run] of Object.entries(runs)) {
      program ??= new JsonLinesProcess(command);
      try {
        yield { scenario, digest: digestSession(await runScenario(program, run, interrupt)) };
      } catch (error) {
        yield { scenario, digest: error instanceof Error ? error : new Error(String(error)) };
        await program.kill();
        program = undefined;
      }
    }
  } finally {
    await program?.kill();
  }
}

async function runScenario(
  program: JsonLinesProcess,
  scenario: Partial<Scenario>,
  interrupt: () => Promise<void>,
): Promise<SessionReport> {
  program.write(scenario);
  for (;;) {
    const line = await program.read<SessionReport | { interruption: true } | { error: string }>(
      SCENARIO_TIMEOUT_MS,
    );
    if ("error" in line) throw new Error(line.error);
    if (!("interruption" in line)) return line;
    await interrupt();
    program.write({});
  }
}
