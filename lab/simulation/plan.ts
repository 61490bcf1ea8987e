import { Chance, mixSeed } from "./chance.ts";
import type { AgentPolicy } from "./scripted-agent.ts";

/** What a client does. `node` is the index of the node that receives the request. */
export type ClientAction =
  | {
      readonly kind: "send";
      readonly node: number;
      readonly isStreaming: boolean;
      readonly returnImmediately: boolean;
      readonly hasWebhook: boolean;
      readonly context: number;
    }
  | {
      readonly kind: "follow up";
      readonly node: number;
      readonly task: number;
      readonly isStreaming: boolean;
      readonly returnImmediately: boolean;
      readonly interrupts: boolean;
    }
  | { readonly kind: "resend"; readonly node: number; readonly message: number }
  | { readonly kind: "cancel" | "get" | "spy"; readonly node: number; readonly task: number }
  | { readonly kind: "subscribe"; readonly node: number; readonly task: number; readonly resumes: boolean }
  | { readonly kind: "disconnect"; readonly stream: number };

/** What fails, for `ms` milliseconds. */
export type FaultAction =
  | {
      readonly kind: "crash" | "stop" | "pause" | "partition" | "drop";
      readonly node: number;
      readonly ms: number;
    }
  | { readonly kind: "clock jump"; readonly node: number; readonly ms: number; readonly byMs: number }
  | { readonly kind: "database clock jump"; readonly ms: number; readonly byMs: number }
  | { readonly kind: "database outage" | "receiver outage"; readonly ms: number }
  | { readonly kind: "slow database"; readonly ms: number; readonly factor: number }
  | { readonly kind: "broken connections"; readonly ms: number; readonly probability: number };

export type PlannedAction = (ClientAction | FaultAction) & {
  readonly delayMs: number;
  readonly index: number;
};

const FAULT_KINDS = new Set<PlannedAction["kind"]>([
  "crash",
  "stop",
  "pause",
  "partition",
  "drop",
  "clock jump",
  "database clock jump",
  "database outage",
  "receiver outage",
  "slow database",
  "broken connections",
]);

export function isFault(action: PlannedAction): action is FaultAction & PlannedAction {
  return FAULT_KINDS.has(action.kind);
}

/** Properties of a whole simulation, which depend on the seed. */
export interface SimulationSettings {
  readonly seed: number;
  readonly nodeCount: number;
  readonly leaseMs: number;
  /** Time in milliseconds between two searches of a node for waiting turns. */
  readonly waitingTurnPollMs: number;
  readonly queryTimeoutMs: number;
  readonly cancelGraceMs: number;
  readonly mergeChunks: boolean;
  /** Mean time in milliseconds between two planned actions. */
  readonly meanGapMs: number;
  /** Probability that a hint between two nodes is lost, or `undefined` without hints. */
  readonly hintLoss: number | undefined;
  readonly policy: AgentPolicy;
}

export function drawSettings(seed: number): SimulationSettings {
  const chance = new Chance(mixSeed(seed, 1));
  const leaseMs = chance.pick([3000, 3000, 15_000]);
  return {
    seed,
    nodeCount: 2 + chance.below(3),
    leaseMs,
    // Most steps are such searches, which find nothing. PostgreSQL is searched every 250 ms, and so are the seeds of
    // earlier findings with this draw, so that they keep their schedules.
    waitingTurnPollMs: new Chance(mixSeed(seed, 53)).pick([250, 2000, 2000, 2000]),
    queryTimeoutMs: chance.pick([1000, 5000, 30_000]),
    cancelGraceMs: chance.pick([500, 2000]),
    mergeChunks: chance.isTrue(0.7),
    meanGapMs: chance.pick([50, 200, 600]),
    hintLoss: chance.pick([undefined, 0.1, 0.9]),
    policy: {
      afterRestart: chance.pick(["fail", "restart", "resume"]),
      whileWorking: chance.pick(["refuse", "queue"]),
      interruptible: chance.isTrue(0.5),
      concurrentTurns: chance.pick(["parallel", "parallel", "parallel", "queue", "refuse"]),
      meanPauseMs: chance.pick([5, 50, 300]),
      // A draw of its own, so that the seeds of earlier findings keep their schedules.
      endsSlowly: new Chance(mixSeed(seed, 8)).isTrue(0.5),
      hangs: new Chance(mixSeed(seed, 11)).isTrue(0.3),
      isDeadly: new Chance(mixSeed(seed, 12)).isTrue(0.2),
      whenUnread: new Chance(mixSeed(seed, 61)).isTrue(0.02) ? "cancel" : "continue",
    },
  };
}

/** Draws an action of the plan. The action depends only on the settings and on its index. */
export function drawAction(settings: SimulationSettings, index: number): PlannedAction {
  const chance = new Chance(mixSeed(settings.seed, 2, index));
  // Long breaks let leases, timeouts, and waits for the store end during a fault.
  const meanGapMs = chance.isTrue(0.02) ? 4 * settings.leaseMs : settings.meanGapMs;
  const delayMs = -Math.log(1 - chance.between(0, 1)) * meanGapMs;
  // Every plan begins with work, and every third action is a fault.
  const action =
    index === 0 || (index % 3 !== 2 && !chance.isTrue(0.05))
      ? drawClientAction(chance, settings, index === 0)
      : drawFault(chance, settings, index);
  return { ...action, delayMs, index };
}

function drawClientAction(chance: Chance, { nodeCount }: SimulationSettings, isFirst: boolean): ClientAction {
  const node = chance.below(nodeCount);
  const task = chance.below(1 << 16);
  const isStreaming = chance.isTrue(0.5);
  const returnImmediately = chance.isTrue(0.3);
  const kind = isFirst
    ? "send"
    : chance.pick([
        "send",
        "send",
        "send",
        "follow up",
        "follow up",
        "resend",
        "cancel",
        "get",
        "spy",
        "subscribe",
        "subscribe",
        "disconnect",
      ]);
  switch (kind) {
    case "send":
      return {
        kind,
        node,
        isStreaming,
        returnImmediately,
        hasWebhook: chance.isTrue(0.4),
        context: chance.below(3),
      };
    case "follow up":
      return { kind, node, task, isStreaming, returnImmediately, interrupts: chance.isTrue(0.2) };
    case "resend":
      return { kind, node, message: task };
    case "subscribe":
      return { kind, node, task, resumes: chance.isTrue(0.6) };
    case "disconnect":
      return { kind, stream: task };
    case "cancel":
    case "get":
    case "spy":
    default:
      return { kind, node, task };
  }
}

function drawFault(
  chance: Chance,
  { seed, nodeCount, leaseMs }: SimulationSettings,
  index: number,
): FaultAction {
  const node = chance.below(nodeCount);
  const kind = chance.pick([
    "crash",
    "crash",
    "crash",
    "stop",
    "pause",
    "pause",
    "partition",
    "partition",
    "drop",
    "clock jump",
    "database outage",
    "receiver outage",
    "slow database",
    "broken connections",
    "broken connections",
  ]);
  // Short faults and faults longer than a lease are both frequent.
  const ms = chance.between(0, chance.pick([leaseMs / 3, leaseMs / 3, 2 * leaseMs, 2 * leaseMs, 90_000]));
  switch (kind) {
    case "clock jump": {
      const byMs = chance.between(-3_600_000, 3_600_000);
      // A draw of its own, so that the seeds of earlier findings keep their schedules.
      const isOfDatabase = new Chance(mixSeed(seed, 9, index)).isTrue(0.5);
      return isOfDatabase ? { kind: "database clock jump", ms, byMs } : { kind, node, ms, byMs };
    }
    case "slow database":
      return { kind, ms, factor: chance.pick([10, 100, 1000]) };
    case "broken connections":
      return { kind, ms, probability: chance.pick([0.1, 0.3, 0.6]) };
    case "database outage":
    case "receiver outage":
      return { kind, ms };
    case "crash":
    case "stop":
    case "pause":
    case "partition":
    case "drop":
    default:
      return { kind, node, ms };
  }
}

/** Formats an action as a line of a schedule. */
export function formatAction({ index, delayMs, kind, ...details }: PlannedAction): string {
  const members = Object.entries(details).map(([name, value]) =>
    typeof value === "number" && !Number.isInteger(value)
      ? `${name} ${value.toFixed(3)}`
      : `${name} ${String(value)}`,
  );
  return `#${index} after ${delayMs.toFixed(1)} ms: ${kind} (${members.join(", ")})`;
}
