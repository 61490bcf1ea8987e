import { isInterrupted, isTerminal } from "../../src/protocol/index.ts";
import { Chance, mixSeed } from "./chance.ts";
import {
  drawAction,
  drawSettings,
  formatAction,
  isFault,
  type FaultAction,
  type SimulationSettings,
} from "./plan.ts";
import { PromiseChecks, type BrokenPromise } from "./promise-checks.ts";
import { SimulatedClients } from "./simulated-clients.ts";
import { SimulatedDatabase, type DatabaseDefects } from "./simulated-database.ts";
import { SimulatedHints } from "./simulated-hints.ts";
import { SimulatedProcess, type ProcessSurroundings } from "./simulated-process.ts";
import { createLinkFaults, type LinkFaults } from "./store-link.ts";
import { VirtualTime } from "./virtual-time.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

/** Time in milliseconds after the end of a lease in which every task of a dead node must be settled. */
const MAX_RECOVERY_MS = 3_000;
/** Time in milliseconds after the end of all faults in which every agent must have finished. */
const MAX_SETTLE_MS = 120_000;
/** The same time if some turns outlast their readers, one after another and in several attempts. */
const MAX_OUTLASTING_MS = 10 * MAX_SETTLE_MS;
/** Number of faults of each simulation, at least. */
const MIN_FAULTS = 5;
const MAX_CLOCK_SKEW_MS = 60_000;
/** Longest time in milliseconds after which a process starts again that a turn has killed. */
const MAX_RESTART_MS = 1000;
/** Time in milliseconds in which the nodes start again and report their readers after the end of all faults. */
const FIRST_REPORT_MS = 12_000;
/** Longest time in milliseconds that a process takes to stop, approximately. */
const MAX_STOP_MS = 10_000;

export interface SimulationOptions {
  readonly seed: number;
  /** Number of steps after which faults and requests end, once there were five faults. Default: 500. */
  readonly steps?: number;
  /** Number of planned actions, or `undefined` for as many as fit in `steps`. */
  readonly actionCount?: number;
  /** Indexes of planned actions to leave out. */
  readonly leftOut?: ReadonlySet<number>;
  readonly defects?: DatabaseDefects;
  /** Receives one line for each step and each planned action. */
  readonly onLine?: (line: string) => void;
}

export interface SimulationResult {
  readonly seed: number;
  readonly settings: SimulationSettings;
  readonly stepCount: number;
  readonly faultCount: number;
  readonly actionCount: number;
  /** Virtual duration in milliseconds. */
  readonly durationMs: number;
  /** Hash of all steps. The same seed has the same hash. */
  readonly hash: string;
  readonly broken: BrokenPromise | undefined;
}

/** Runs one simulation, which depends only on the options. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  return await simulation.run();
}

class SimulatedNode {
  process: SimulatedProcess;
  #processCount = 0;
  readonly #createProcess: (name: string) => SimulatedProcess;
  readonly #name: string;

  constructor(name: string, createProcess: (name: string) => SimulatedProcess) {
    this.#name = name;
    this.#createProcess = createProcess;
    this.process = this.start();
  }

  start(): SimulatedProcess {
    this.process = this.#createProcess(`${this.#name}.${++this.#processCount}`);
    return this.process;
  }
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #settings: SimulationSettings;
  readonly #time = new VirtualTime();
  readonly #checks: PromiseChecks;
  readonly #database: SimulatedDatabase;
  readonly #faults: LinkFaults = createLinkFaults();
  readonly #receiver: WebhookReceiver;
  readonly #nodes: SimulatedNode[];
  readonly #clients: SimulatedClients;
  readonly #chance: Chance;
  /** Difference in milliseconds between the clock of the database and the virtual time. */
  #databaseClockOffsetMs = 0;
  readonly #processNames = new Map<string, string>();
  #actionCount = 0;
  #plannedFaultCount = 0;
  #faultCount = 0;
  #isHealed = false;
  #isFinished = false;
  #cancelDeadline: () => void = () => {};

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#settings = drawSettings(options.seed);
    this.#time.onStep = options.onLine;
    const { nodeCount, cancelGraceMs, hintLoss, policy } = this.#settings;
    const chance = new Chance(mixSeed(options.seed, 3));
    this.#chance = chance;
    const getTime = (): number => this.#time.now;
    this.#checks = new PromiseChecks(getTime, cancelGraceMs, policy);
    this.#database = new SimulatedDatabase(
      () => getTime() + this.#databaseClockOffsetMs,
      this.#checks,
      options.defects,
    );
    this.#receiver = new WebhookReceiver(this.#time, chance, this.#checks);
    const surroundings: ProcessSurroundings = {
      time: this.#time,
      chance,
      database: this.#database,
      checks: this.#checks,
      faults: this.#faults,
      hints: hintLoss === undefined ? undefined : new SimulatedHints(this.#time, chance, hintLoss),
      deliver: (...args) => this.#receiver.deliver(...args),
      onDeath: (process) => this.#onDeath(process),
    };
    this.#nodes = Array.from({ length: nodeCount }, (_, at) => {
      const skewMs = chance.between(-MAX_CLOCK_SKEW_MS, MAX_CLOCK_SKEW_MS);
      return new SimulatedNode(
        `n${at + 1}`,
        (name) => new SimulatedProcess(name, this.#settings, surroundings, skewMs),
      );
    });
    this.#clients = new SimulatedClients(this.#time, chance, this.#checks, this.#nodes);
  }

  async run(): Promise<SimulationResult> {
    for (const node of this.#nodes) this.#open(node);
    this.#planNextAction();
    await this.#time.run(() => this.#checks.broken !== undefined || this.#isFinished);
    if (!this.#checks.broken && !this.#isFinished)
      this.#checks.breakPromise("E17", "nothing happens any more, although work is left");
    return {
      seed: this.#settings.seed,
      settings: this.#settings,
      stepCount: this.#time.stepCount,
      faultCount: this.#faultCount,
      actionCount: this.#actionCount,
      durationMs: this.#time.now,
      hash: this.#time.hash,
      broken: this.#nameProcesses(this.#checks.broken),
    };
  }

  /** Replaces the ids of nodes in a text by the names of their processes. */
  #nameProcesses(broken: BrokenPromise | undefined): BrokenPromise | undefined {
    let text = broken?.text ?? "";
    for (const [id, name] of this.#processNames) text = text.replaceAll(id, name);
    return broken && { ...broken, text };
  }

  #planNextAction(): void {
    const { steps = 500, actionCount = Infinity, leftOut } = this.#options;
    const isEnough = this.#time.stepCount >= steps && this.#plannedFaultCount >= MIN_FAULTS;
    if (this.#actionCount >= actionCount || (isEnough && actionCount === Infinity)) return this.#heal();
    const action = drawAction(this.#settings, this.#actionCount++);
    if (isFault(action)) this.#plannedFaultCount++;
    this.#time.schedule("plan", action.delayMs, () => {
      if (!leftOut?.has(action.index)) {
        this.#options.onLine?.(formatAction(action));
        if (isFault(action)) this.#inject(action);
        else this.#clients.perform(action);
      }
      this.#planNextAction();
    });
  }

  #open(node: SimulatedNode): void {
    const { process } = node;
    this.#processNames.set(process.store.node, process.name);
    process.open().catch(() => {
      // A supervisor starts a process again that could not open its store.
      process.kill();
      this.#restartLater(node, 200);
    });
  }

  #restartLater(node: SimulatedNode, ms: number): void {
    this.#time.schedule("restart", ms, () => {
      if (node.process.isAlive) return;
      node.start();
      this.#open(node);
    });
  }

  #onDeath(process: SimulatedProcess): void {
    const node = this.#nodes.find((other) => other.process === process);
    if (node) this.#restartLater(node, this.#chance.between(0, MAX_RESTART_MS));
    this.#checks.unread.recordFault(MAX_RESTART_MS);
    if (this.#isHealed) this.#watchRecovery(0);
  }

  #inject(action: FaultAction): void {
    this.#faultCount++;
    // A process that stops can take longer than it is planned to be absent.
    this.#checks.unread.recordFault(action.ms + (action.kind === "stop" ? MAX_STOP_MS : 0));
    const end = (stop: () => void): void =>
      void this.#time.schedule(`end of ${action.kind}`, action.ms, stop);
    if (!("node" in action)) return this.#injectShared(action, end);
    const node = this.#nodes[action.node] as SimulatedNode;
    const { process } = node;
    switch (action.kind) {
      case "crash":
        process.kill();
        return this.#restartLater(node, action.ms);
      case "stop":
        if (process.isReady)
          void process
            .stop(this.#settings.cancelGraceMs)
            .finally(() => this.#restartLater(node, this.#isHealed ? 0 : action.ms));
        return;
      case "pause":
        process.pausedUntil = Math.max(process.pausedUntil, this.#time.now + action.ms);
        return;
      case "clock jump":
        process.wallClockOffsetMs += action.byMs;
        return;
      case "partition":
      case "drop":
        process.link.partitionedUntil = this.#time.now + action.ms;
        process.link.dropsPackets = action.kind === "drop";
    }
  }

  #injectShared(action: Exclude<FaultAction, { node: number }>, end: (stop: () => void) => void): void {
    const faults = this.#faults;
    switch (action.kind) {
      case "database clock jump":
        this.#databaseClockOffsetMs += action.byMs;
        return;
      case "database outage":
        faults.isDatabaseDown = true;
        return end(() => (faults.isDatabaseDown = false));
      case "receiver outage":
        this.#receiver.isDown = true;
        return end(() => (this.#receiver.isDown = false));
      case "slow database":
        faults.delayFactor = action.factor;
        return end(() => (faults.delayFactor = 1));
      case "broken connections":
        faults.breakProbability = action.probability;
        return end(() => (faults.breakProbability = 0));
    }
  }

  /** Ends all faults. From now on, everything must come to rest. */
  #heal(): void {
    if (this.#isHealed) return;
    this.#isHealed = true;
    this.#options.onLine?.("all faults end");
    const { lastArrivalAt } = this.#faults;
    Object.assign(this.#faults, createLinkFaults());
    this.#receiver.isDown = false;
    this.#checks.unread.endFaults(Math.max(FIRST_REPORT_MS, lastArrivalAt - this.#time.now));
    for (const node of this.#nodes) {
      const { process } = node;
      process.pausedUntil = process.link.partitionedUntil = 0;
      this.#time.hurryDelayedSteps(process);
      if (!process.isAlive) this.#restartLater(node, this.#chance.between(0, 200));
    }
    if (this.#settings.policy.whenUnread === "cancel")
      this.#clients.sendOutlastingLater(FIRST_REPORT_MS, new Chance(mixSeed(this.#settings.seed, 63)));
    // A late statement can extend the lease of a dead node.
    this.#watchRecovery(Math.max(0, lastArrivalAt - this.#time.now));
    this.#watchQuiet(lastArrivalAt);
  }

  /** Ends the simulation as soon as all late statements have arrived, and nothing is left that could change a task. */
  #watchQuiet(lastArrivalAt: number): void {
    this.#time.schedule("quiet", 500, () => {
      const processes = this.#nodes.map(({ process }) => process);
      const isQuiet =
        this.#time.now > lastArrivalAt &&
        processes.every(({ isReady }) => isReady) &&
        !this.#checks.hasRunningAgent(new Set(processes.map(({ store }) => store.node))) &&
        this.#describeRemainingWork() === undefined;
      if (isQuiet) this.#finish();
      else this.#watchQuiet(lastArrivalAt);
    });
  }

  #finish(): void {
    this.#clients.checkEnd();
    this.#isFinished = true;
  }

  /** Expects the recovery of all tasks of dead nodes, and then the end of all work. A later call replaces an earlier one. */
  #watchRecovery(lateMs: number): void {
    const { leaseMs, queryTimeoutMs } = this.#settings;
    // A lost statement ends with its timeout. A living node can read the last renewal of a dead node at its next renewal, and sees the silence at another one.
    const deadlineMs = lateMs + (4 / 3) * leaseMs + MAX_RECOVERY_MS + queryTimeoutMs;
    this.#cancelDeadline();
    this.#cancelDeadline = this.#time.schedule("recovery deadline", deadlineMs, () => {
      void this.#checkAbandonedTasks();
    });
  }

  async #checkAbandonedTasks(): Promise<void> {
    const deadline = this.#cancelDeadline;
    const abandoned = await this.#database.listAbandonedTasks();
    // A node has died during the query.
    if (deadline !== this.#cancelDeadline) return;
    for (const { taskId } of abandoned)
      this.#checks.breakPromise("E17, E21", `task ${taskId} is still held by a dead node`);
    const { whenUnread } = this.#settings.policy;
    this.#checkRest(this.#time.now + (whenUnread === "cancel" ? MAX_OUTLASTING_MS : MAX_SETTLE_MS));
  }

  /** Ends the simulation as soon as all work is done, and fails at the deadline. */
  #checkRest(deadline: number): void {
    const work = this.#describeRemainingWork();
    if (work === undefined) this.#finish();
    else if (this.#time.now > deadline) this.#checks.breakPromise("E17", work);
    else this.#cancelDeadline = this.#time.schedule("rest", 500, () => this.#checkRest(deadline));
  }

  #describeRemainingWork(): string | undefined {
    const unread = this.#clients.describeUnreadStream();
    if (unread !== undefined) return unread;
    if (this.#clients.pendingCount > 0) return `${this.#clients.pendingCount} requests have no response`;
    for (const { taskId, states, isRunning } of this.#checks.histories.values()) {
      const state = states.at(-1);
      if (isRunning) return `task ${taskId} still has a running turn in state ${state}`;
      if (!state || (!isTerminal(state) && !isInterrupted(state)))
        return `task ${taskId} is ${state} without a turn`;
    }
    for (const [message, taskId] of this.#checks.queuedMessages)
      if (!this.#checks.discardedMessages.has(message)) return `message ${message} waits in task ${taskId}`;
    return this.#receiver.describeMissingEvent();
  }
}
