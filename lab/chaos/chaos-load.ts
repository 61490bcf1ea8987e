import type { Task } from "../../src/protocol/index.ts";
import { callAgent } from "./agent-requests.ts";
import { findTaskLogProblems } from "./check-task-log.ts";
import { ObservedTask } from "./observed-task.ts";
import { AGENT_POLICIES, type AgentPolicy, type AgentScript } from "./scripted-agents.ts";
import type { ChaosNode } from "./systems/chaos-system.ts";

/** Number of logs that are read at the same time. */
const CONCURRENT_CHECKS = 8;

export interface ChaosLoadOptions {
  /** Prefix of the message ids. A second load on the same database needs another name. Default: `load`. */
  readonly name?: string;
  /** Number of concurrent clients. Each client starts the next task after the end of its last task. */
  readonly clients: number;
  readonly script: AgentScript;
  /** Policies of the tasks in turn. Default: all. */
  readonly policies?: readonly AgentPolicy[];
  /** Each task with this rank is canceled after some events. Default: 0, which cancels no task. */
  readonly cancelEach?: number;
  /** Returns the nodes that clients may use. */
  readonly getNodes: () => readonly ChaosNode[];
  /** Time in milliseconds without an event after which a client changes to another node. Default: 5,000. */
  readonly silenceMs?: number;
}

/** Clients that start tasks on all nodes in turn, and follow each task from node to node. */
export class ChaosLoad {
  readonly tasks: ObservedTask[] = [];
  readonly #options: ChaosLoadOptions;
  readonly #abort = new AbortController();
  readonly #clients: Promise<void>[] = [];
  #isStarting = true;
  #connectionNumber = 0;

  constructor(options: ChaosLoadOptions) {
    this.#options = options;
    for (let at = 0; at < options.clients; at++) this.#clients.push(this.#startTasks());
  }

  /** Stops to start tasks, and waits until all tasks have ended, or until the time is over. */
  async end(timeoutMs: number): Promise<void> {
    this.#isStarting = false;
    const timer = setTimeout(() => this.#abort.abort(), timeoutMs);
    await Promise.all(this.#clients);
    clearTimeout(timer);
  }

  /** Resolves with all differences between the tasks and their logs. Call `end` first. */
  async findProblems(): Promise<string[]> {
    const problems: string[] = [];
    const waiting = [...this.tasks];
    const checkTasks = async (): Promise<void> => {
      for (let task = waiting.shift(); task; task = waiting.shift()) {
        if (task.finalState !== undefined)
          problems.push(...(await findTaskLogProblems(this.#chooseAgentUrl(task.policy), task)));
        else if (task.taskId !== undefined || !this.#abort.signal.aborted)
          problems.push(`${task.policy} task ${task.taskId} has not ended: ${formatRefusals(task)}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, checkTasks));
    return problems;
  }

  countTasks(state: string): number {
    return this.tasks.filter(({ finalState }) => finalState === state).length;
  }

  /** Returns how often clients gave up a connection without events. */
  countSilences(): number {
    return this.tasks.reduce((sum, { silences }) => sum + silences, 0);
  }

  /** Returns the longest time in milliseconds that a client waited between two events of a task. */
  findLongestPauseMs(): number {
    return this.tasks.reduce((longest, { longestPauseMs }) => Math.max(longest, longestPauseMs), 0);
  }

  #chooseAgentUrl(policy: AgentPolicy): string {
    const nodes = this.#options.getNodes();
    const node = nodes[this.#connectionNumber++ % nodes.length];
    if (!node) throw new Error("there is no node");
    return node.getAgentUrl(policy);
  }

  async #startTasks(): Promise<void> {
    const {
      policies = AGENT_POLICIES,
      script,
      cancelEach = 0,
      silenceMs = 5000,
      name = "load",
    } = this.#options;
    while (this.#isStarting) {
      const number = this.tasks.length;
      const policy = policies[number % policies.length] ?? "fail";
      const task = new ObservedTask(`${name}-${number}`, policy, script);
      this.tasks.push(task);
      const ended = task.follow({
        chooseAgentUrl: () => this.#chooseAgentUrl(policy),
        signal: this.#abort.signal,
        silenceMs,
      });
      if (cancelEach > 0 && number % cancelEach === 0) void this.#cancelAfterSomeEvents(task);
      await ended;
    }
  }

  /** Cancels a task on any node as soon as its client has half of the chunks. */
  async #cancelAfterSomeEvents(task: ObservedTask): Promise<void> {
    while (task.frames.size < task.script.chunks / 2) {
      if (task.finalState !== undefined || this.#abort.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    try {
      const url = this.#chooseAgentUrl(task.policy);
      const { status } = await callAgent<Task>(url, "CancelTask", { id: task.taskId });
      task.acknowledgedCancelState = status.state;
    } catch {
      // A cancel without a response promises nothing.
    }
  }
}

function formatRefusals({ refusals }: ObservedTask): string {
  return [...refusals].map(([text, count]) => `${count} × ${text}`).join("; ");
}
