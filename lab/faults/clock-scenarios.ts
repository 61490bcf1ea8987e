import type { ClockedServer } from "./clocked-server.ts";

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** A change of the clocks of a machine with a server that has the default retention periods. */
export interface ClockScenario {
  readonly name: string;
  /** False for scenarios that start a second process, which has no data of a memory store. */
  readonly supportsMemory: boolean;
  readonly run: (server: ClockedServer) => Promise<void>;
}

/** The longest period of an ended task is 30 days, and of a waiting task 90 days. */
export const CLOCK_SCENARIOS: readonly ClockScenario[] = [
  {
    name: "clock +10 min, -10 min",
    supportsMemory: true,
    run: async (server) => {
      await server.storeTasks();
      for (const seconds of [10 * MINUTE_S, -20 * MINUTE_S, 10 * MINUTE_S]) {
        await server.moveWallClock(seconds);
        server.expectAllTasks();
        server.expectDelays(0);
      }
    },
  },
  {
    name: "clock +100 d for some seconds",
    supportsMemory: true,
    run: async (server) => {
      await server.storeTasks();
      await server.moveWallClock(100 * DAY_S);
      server.expectAllTasks();
      server.expectDelays(1);
      await server.moveWallClock(-100 * DAY_S);
      await server.runFor(20 * DAY_S);
      server.expectAllTasks();
      await server.runFor(11 * DAY_S);
      await server.expectOnlyWaitingTasks();
    },
  },
  {
    name: "clock +100 d, which stays",
    supportsMemory: true,
    run: async (server) => {
      await server.storeTasks();
      await server.moveWallClock(100 * DAY_S);
      await server.runFor(23 * HOUR_S);
      server.expectAllTasks();
      await server.runFor(HOUR_S);
      await server.expectNoTasks();
    },
  },
  {
    name: "clock -10 y, and back",
    supportsMemory: true,
    run: async (server) => {
      await server.moveWallClock(-3_650 * DAY_S);
      await server.storeTasks();
      await server.moveWallClock(3_650 * DAY_S);
      await server.runFor(29 * DAY_S);
      server.expectAllTasks();
      await server.runFor(2 * DAY_S);
      await server.expectOnlyWaitingTasks();
    },
  },
  {
    name: "suspended for 40 d, monotonic clock stops",
    supportsMemory: true,
    run: async (server) => {
      await server.storeTasks();
      await server.moveWallClock(40 * DAY_S);
      await server.runFor(23 * HOUR_S);
      server.expectAllTasks();
      await server.runFor(HOUR_S);
      await server.expectOnlyWaitingTasks();
    },
  },
  {
    name: "suspended for 40 d, monotonic clock continues",
    supportsMemory: true,
    run: async (server) => {
      await server.storeTasks();
      await server.moveBothClocks(40 * DAY_S);
      await server.runFor(23 * HOUR_S);
      server.expectAllTasks();
      await server.runFor(HOUR_S);
      await server.expectOnlyWaitingTasks();
    },
  },
  {
    name: "killed and started again while the clock is 100 d ahead",
    supportsMemory: false,
    run: async (server) => {
      await server.storeTasks();
      await server.moveWallClock(100 * DAY_S);
      server.expectAllTasks();
      await server.killAndRestart();
      server.expectAllTasks();
      await server.moveWallClock(-100 * DAY_S);
      server.expectAllTasks();
    },
  },
  {
    name: "off for 40 d",
    supportsMemory: false,
    run: async (server) => {
      await server.storeTasks();
      await server.killAndRestart(40 * DAY_S);
      server.expectAllTasks();
      server.expectDelays(1);
      await server.runFor(23 * HOUR_S);
      server.expectAllTasks();
      await server.runFor(HOUR_S);
      await server.expectOnlyWaitingTasks();
    },
  },
];
