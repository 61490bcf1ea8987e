import { createNodeCooperation } from "../../src/cluster/index.ts";
import { Committer, Engine, type Clock } from "../../src/engine/index.ts";
import { Outbox, type NotificationSender, createEnginePushOptions } from "../../src/webhooks/index.ts";
import type { Chance } from "./chance.ts";
import type { PromiseChecks } from "./promise-checks.ts";
import { createScriptedAgent, type AgentPolicy } from "./scripted-agent.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { SimulatedHints } from "./simulated-hints.ts";
import { SimulatedStore, type SimulatedStoreSettings, type StatementRunner } from "./simulated-store.ts";
import { StoreLink, type LinkFaults } from "./store-link.ts";
import type { StepOwner, VirtualTime } from "./virtual-time.ts";

/** Wall-clock time at the start of each simulation, in milliseconds since 1970. */
const START_TIME_MS = Date.UTC(2026, 0, 1);
/** Longest delay in milliseconds of a timer or of a turn of the event loop. */
const MAX_TIMER_DELAY_MS = 2;
const MAX_TURN_DELAY_MS = 0.3;

/** Settings that all processes of a simulation share. */
export interface ProcessSettings extends SimulatedStoreSettings {
  readonly seed: number;
  readonly policy: AgentPolicy;
  readonly queryTimeoutMs: number;
  readonly cancelGraceMs: number;
  readonly mergeChunks: boolean;
}

/** Parts of the simulation around a process. */
export interface ProcessSurroundings {
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly database: SimulatedDatabase;
  readonly checks: PromiseChecks;
  readonly faults: LinkFaults;
  /** Hints between the nodes, or `undefined` for nodes that only poll. */
  readonly hints: SimulatedHints | undefined;
  readonly deliver: (
    owner: StepOwner,
    ...args: Parameters<NotificationSender>
  ) => ReturnType<NotificationSender>;
  /** Called after a turn has killed the process. */
  readonly onDeath: (process: SimulatedProcess) => void;
}

/** A process with the engine and the outbox of the library. Its clocks, ids, and connections are simulated. */
export class SimulatedProcess implements StepOwner {
  readonly name: string;
  readonly link: StoreLink;
  readonly engine: Engine;
  readonly outbox: Outbox;
  isAlive = true;
  isReady = false;
  pausedUntil = 0;
  /** Difference in milliseconds between the wall clock of the process and the true time. */
  wallClockOffsetMs: number;
  readonly store: SimulatedStore;
  readonly #onEnd = new Set<() => void>();

  constructor(
    name: string,
    settings: ProcessSettings,
    surroundings: ProcessSurroundings,
    wallClockOffsetMs: number,
  ) {
    const { time, chance, database, checks, faults, hints, deliver, onDeath } = surroundings;
    this.name = name;
    this.wallClockOffsetMs = wallClockOffsetMs;
    // Clocks of real machines differ by far less than a thousandth.
    const rate = 1 + chance.between(-0.001, 0.001);
    const timerLabel = `${name} timer`;
    const turnLabel = `${name} turn`;
    const clock: Clock = {
      now: () => START_TIME_MS + Math.floor(time.now + this.wallClockOffsetMs),
      monotonic: () => time.now * rate,
      schedule: (ms, callback) =>
        time.schedule(timerLabel, ms / rate + chance.between(0, MAX_TIMER_DELAY_MS), callback, this),
      scheduleTurn: (callback) =>
        void time.schedule(turnLabel, chance.between(0, MAX_TURN_DELAY_MS), callback, this),
    };
    this.link = new StoreLink(time, this, chance, faults, settings.queryTimeoutMs);
    const run: StatementRunner = (query, statement) => this.link.query(query, statement);
    const store = new SimulatedStore(database, run, clock, settings, hints?.connect(this));
    this.store = store;
    let lastId = 0;
    const generateId = (): string => `${name}-${++lastId}`;
    this.outbox = new Outbox({
      store,
      clock,
      deliver: (notification, signal) => deliver(this, notification, signal),
      random: () => chance.between(0, 1),
      retry: { initialDelayMs: 200, maxDelayMs: 2000 },
    });
    this.engine = new Engine({
      agent: createScriptedAgent(
        settings.seed,
        settings.policy,
        clock,
        (taskId) => checks.startExecution(store.node, taskId),
        (messageId) => {
          checks.suspects.recordKill(messageId);
          this.kill();
          onDeath(this);
        },
      ),
      agentId: "script",
      store,
      committer: new Committer(store, clock),
      nodeCooperation: createNodeCooperation({ store, clock, generateId }),
      push: createEnginePushOptions({
        outbox: this.outbox,
        store: store.pushStore,
        validateWebhook: () => Promise.resolve([]),
      }),
      clock,
      generateId,
      mergeChunks: settings.mergeChunks,
      cancelGraceMs: settings.cancelGraceMs,
    });
  }

  /** Starts the process in the order of a server. Rejects if the store cannot be opened. */
  async open(): Promise<void> {
    await this.store.open();
    await this.engine.open();
    this.outbox.open();
    this.isReady = true;
  }

  /** Ends the process in the order of a server. */
  async stop(graceMs: number): Promise<void> {
    this.isReady = false;
    await this.engine.close(graceMs);
    await this.outbox.close(graceMs);
    await this.store.close();
    this.kill();
  }

  /** Ends the process at once. Nothing of the process happens later. */
  kill(): void {
    this.isAlive = false;
    this.isReady = false;
    for (const callback of this.#onEnd) callback();
    this.#onEnd.clear();
  }

  /** Calls `callback` when the process ends. Returns a function that removes the callback. */
  onEnd(callback: () => void): () => void {
    this.#onEnd.add(callback);
    return () => void this.#onEnd.delete(callback);
  }
}
