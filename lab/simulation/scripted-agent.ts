import type { Agent, AgentEvent, Clock, Run } from "../../src/engine/index.ts";
import { Chance, mixSeed } from "./chance.ts";
import type { AgentExecution } from "./promise-checks.ts";
import { readScriptOutput, writeScriptOutput } from "./scripted-output.ts";

/** Behavior of the agent of one simulation. All nodes have the same agent. */
export interface AgentPolicy {
  readonly afterRestart: "fail" | "restart" | "resume";
  readonly whileWorking: "refuse" | "queue";
  readonly interruptible: boolean;
  readonly concurrentTurns: "queue" | "refuse" | "parallel";
  /** Mean time in milliseconds between two pieces of output. */
  readonly meanPauseMs: number;
  /** True if agents yield another event after their abort, stop slowly, and continue after they have asked their user. */
  readonly endsSlowly: boolean;
  /** True if some turns of the agent hang, so that only the limit on their silence ends them. */
  readonly hangs: boolean;
  /** True if some turns of the agent kill their process in each attempt. */
  readonly isDeadly: boolean;
  /** With `cancel`, some turns take longer than the grace period without a reader. */
  readonly whenUnread: "continue" | "cancel";
}

/** Limit on the silence of agents that hang. Other agents pause for at most 20 mean pauses. */
const HUNG_AGENT_SILENCE_MS = 15_000;

/** Longest time in milliseconds that an agent takes to stop, and the longest time if it ends slowly. */
const MAX_CLEANUP_MS = 200;
const MAX_SLOW_CLEANUP_MS = 3000;
/** Longest time in milliseconds for which an agent continues after it has asked its user. */
const MAX_LINGER_MS = 20_000;

const LONG_TURN_MS = 20_000;
/** Duration in milliseconds of a turn that outlasts its readers, and of its pieces, which report progress. */
const OUTLASTING_TURN_MS = 55_000;
const PROGRESS_MS = 5000;

/** Number of pieces of output between two steps of `Run.once`. */
const STEP_DISTANCE = 2;

type ScriptEnd = "complete" | "return" | "ask" | "authorize" | "throw" | "reject";

interface Script {
  readonly length: number;
  readonly end: ScriptEnd;
  readonly ignoresAbort: boolean;
  readonly chance: Chance;
}

/** How an agent ends that ends slowly. */
interface SlowEnd {
  /** True if the agent yields a status after its abort. */
  readonly yieldsWhenAborted: boolean;
  readonly cleanupMs: number;
  /** Time in milliseconds for which the agent continues after it has asked its user. */
  readonly lingerMs: number;
}

/** Draws the script of a turn. Every attempt at the turn has the same script. */
function drawScript(seed: number, messageId: string): Script {
  const chance = new Chance(mixSeed(seed, Number(messageId.slice(1))));
  return {
    length: chance.below(8),
    end: chance.pick(["complete", "return", "return", "ask", "ask", "authorize", "throw", "reject"]),
    ignoresAbort: chance.isTrue(0.15),
    chance,
  };
}

function drawSlowEnd(seed: number, messageId: string): SlowEnd {
  const chance = new Chance(mixSeed(seed, 4, Number(messageId.slice(1))));
  return {
    yieldsWhenAborted: chance.isTrue(0.5),
    cleanupMs: chance.between(0, MAX_SLOW_CLEANUP_MS),
    lingerMs: chance.isTrue(0.5) ? 0 : chance.between(0, MAX_LINGER_MS),
  };
}

/** Draws the position at which a turn hangs, or `undefined`. */
function drawHangPosition(seed: number, messageId: string): number | undefined {
  const chance = new Chance(mixSeed(seed, 10, Number(messageId.slice(1))));
  return chance.isTrue(0.2) ? chance.below(8) : undefined;
}

/** Returns true if each attempt at the turn kills its process. */
function drawDeadly(seed: number, messageId: string): boolean {
  return new Chance(mixSeed(seed, 13, Number(messageId.slice(1)))).isTrue(0.1);
}

/** Returns true if the turn of a simulation with deadly turns takes longer than several groups of suspect turns. */
function drawLong(seed: number, messageId: string): boolean {
  return new Chance(mixSeed(seed, 14, Number(messageId.slice(1)))).isTrue(0.4);
}

/** Returns true for the turn of the plan that takes longer than the grace period without a reader. */
function drawOutlasting(seed: number, messageId: string): boolean {
  return messageId === `m${1 + new Chance(mixSeed(seed, 62)).below(12)}`;
}

/**
 * Creates an agent whose output depends only on the seed and on the message. `killProcess` ends the process, so that
 * nothing of it happens later.
 */
export function createScriptedAgent(
  seed: number,
  { meanPauseMs, endsSlowly, hangs, isDeadly, ...policy }: AgentPolicy,
  clock: Clock,
  startExecution: (taskId: string) => AgentExecution,
  killProcess: (messageId: string) => void,
): Agent {
  const execute = async function* (run: Run): AsyncGenerator<AgentEvent> {
    const { messageId } = run.message;
    const { length, end, ignoresAbort, chance } = drawScript(seed, messageId);
    const slowEnd = endsSlowly ? drawSlowEnd(seed, messageId) : undefined;
    const hangPosition = hangs ? drawHangPosition(seed, messageId) : undefined;
    const execution = startExecution(run.taskId);
    const drawPauseMs = (): number =>
      chance.isTrue(0.1) ? chance.between(0, 20 * meanPauseMs) : chance.between(0, 2 * meanPauseMs);
    const sleep = (ms = drawPauseMs()): Promise<void> =>
      new Promise((resolve, reject) => {
        const cancel = ms === Infinity ? (): void => {} : clock.schedule(ms, resolve);
        if (ignoresAbort) return;
        const stop = (): void => {
          cancel();
          reject(run.signal.reason as Error);
        };
        if (run.signal.aborted) stop();
        else run.signal.addEventListener("abort", stop, { once: true });
      });
    run.signal.addEventListener("abort", () => execution.abort(run.signal.reason), { once: true });
    try {
      if (isDeadly && drawDeadly(seed, messageId)) {
        await sleep();
        killProcess(messageId);
        await new Promise(() => {});
      }
      // The turn is running when the next groups of suspect turns start.
      if (isDeadly && drawLong(seed, messageId)) await sleep(LONG_TURN_MS);
      if (policy.whenUnread === "cancel" && (run.contextId === "c9" || drawOutlasting(seed, messageId)))
        for (let ms = 0; ms < OUTLASTING_TURN_MS; ms += PROGRESS_MS) {
          await sleep(PROGRESS_MS);
          run.progress();
        }
      if (chance.isTrue(0.5)) yield { status: { state: "TASK_STATE_WORKING" } };
      const first = policy.afterRestart === "resume" ? countOutput(run, messageId) : 0;
      for (let position = first; position < length; position++) {
        if (position === hangPosition) await sleep(Infinity);
        if (chance.isTrue(0.6)) await sleep();
        if (position % STEP_DISTANCE === 0) await executeStep(run, position, execution);
        const text = writeScriptOutput({ messageId, attempt: run.attempt, position });
        yield {
          artifact: { artifactId: `a${messageId}`, parts: [{ text }] },
          append: position > 0 || run.attempt > 1,
        };
      }
      if (end === "authorize") {
        yield { status: { state: "TASK_STATE_AUTH_REQUIRED" } };
        await sleep();
        yield { status: { state: "TASK_STATE_WORKING" } };
      }
      await sleep();
      if (end === "throw") throw new Error("The script ends with an error.");
      if (end === "ask") yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
      if (end === "ask" && slowEnd) await sleep(slowEnd.lingerMs);
      if (end === "reject") yield { status: { state: "TASK_STATE_REJECTED" } };
      if (end === "complete") yield { status: { state: "TASK_STATE_COMPLETED" } };
    } catch (error) {
      if (run.signal.aborted && slowEnd?.yieldsWhenAborted) yield { status: { state: "TASK_STATE_WORKING" } };
      throw error;
    } finally {
      // Many agents need time to stop.
      if (run.signal.aborted && (slowEnd || chance.isTrue(0.5))) {
        const ms = slowEnd?.cleanupMs ?? chance.between(0, MAX_CLEANUP_MS);
        await new Promise<void>((resolve) => void clock.schedule(ms, resolve));
      }
      execution.isEnded = true;
    }
  };
  const limits = hangs ? { maxSilenceMs: HUNG_AGENT_SILENCE_MS } : {};
  return {
    ...policy,
    ...limits,
    describe: () => ({ name: "script", description: "Follows a script." }),
    execute,
  };
}

/** Executes a step, which takes some turns of the event loop. */
async function executeStep(
  { message: { messageId }, attempt, once }: Run,
  position: number,
  { steps }: AgentExecution,
): Promise<void> {
  const step = { messageId, position, attempt };
  steps.recordResult(step, await once(`step ${position}`, () => steps.recordExecution(step)));
}

/** Number of pieces of a turn's output that the task contains. */
function countOutput({ task }: Run, messageId: string): number {
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === `a${messageId}`);
  const text = artifact?.parts.map((part) => ("text" in part ? part.text : "")).join("") ?? "";
  return readScriptOutput(text).length;
}
