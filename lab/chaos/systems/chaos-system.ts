import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { AgentPolicy, AgentReport } from "../scripted-agents.ts";

/** Settings of a node. Systems ignore the settings that they do not have. */
export interface ChaosNodeOptions {
  /** URL of the database, for example through a proxy. Default: the database of the fault. */
  readonly database?: string;
  /** Time in milliseconds until the leases of a dead node expire. Default: 2,000. */
  readonly leaseMs?: number;
  /** Whether the node uses LISTEN and NOTIFY. Default: true. */
  readonly hints?: boolean;
  /** Whether the connections prepare statements. Default: true. */
  readonly preparedStatements?: boolean;
  /** By how much the wall clock of the node is ahead, in milliseconds. Default: 0. */
  readonly clockOffsetMs?: number;
  /** Port to listen on. Default: a free port. */
  readonly port?: number;
  /** Retention of a task after its end, in milliseconds. Default: as the system does. */
  readonly taskRetentionMs?: number;
}

/** An implementation of an A2A cluster that runs under faults. */
export interface ChaosSystem {
  readonly name: string;
  readonly hasEventIds: boolean;
  /** Returns the program and the arguments of a node. */
  getCommand(database: string, options: ChaosNodeOptions): readonly [program: string, ...args: string[]];
  /** Returns the JSON-RPC URL of the agent with a policy. Systems without policies have one agent. */
  getAgentUrl(nodeUrl: string, policy: AgentPolicy): string;
}

/** A line that a node prints. The first line is `ready`. */
export type NodeReport =
  | { readonly kind: "ready"; readonly url: string }
  | { readonly kind: "store"; readonly state: string; readonly at: number }
  | { readonly kind: "error"; readonly where: string; readonly error: string }
  | { readonly kind: "warning"; readonly message: string }
  | AgentReport;

/** A server process of a cluster. */
export class ChaosNode {
  readonly #system: ChaosSystem;
  readonly #url: string;
  readonly child: ChildProcess;
  /** What the node has printed, in order. */
  readonly reports: readonly NodeReport[];

  private constructor(system: ChaosSystem, url: string, child: ChildProcess, reports: readonly NodeReport[]) {
    this.#system = system;
    this.#url = url;
    this.child = child;
    this.reports = reports;
  }

  /** Starts a process, and resolves when its server listens. */
  static async start(system: ChaosSystem, database: string, options: ChaosNodeOptions): Promise<ChaosNode> {
    const [program, ...args] = system.getCommand(database, options);
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    const reports: NodeReport[] = [];
    const ready = Promise.withResolvers<string>();
    child.once("error", ready.reject);
    child.once("exit", (code, signal) => ready.reject(new Error(`the node ended: ${code ?? signal}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const report = JSON.parse(line) as NodeReport;
      reports.push(report);
      if (report.kind === "ready") ready.resolve(report.url);
    });
    return new ChaosNode(system, await ready.promise, child, reports);
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  /** Resolves with true if the node reports to a load balancer that it can serve requests. */
  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(1000);
    return await fetch(`${this.#url}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  getAgentUrl(policy: AgentPolicy): string {
    return this.#system.getAgentUrl(this.#url, policy);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends the process with `kill -9`, and waits until it has exited. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const exit = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await exit;
  }

  /** Stops the process like a long pause of its machine. */
  pause(): void {
    this.child.kill("SIGSTOP");
  }

  continue(): void {
    this.child.kill("SIGCONT");
  }

  /** Returns the number of reports of a kind. */
  countReports(kind: NodeReport["kind"]): number {
    return this.reports.filter((report) => report.kind === kind).length;
  }

  /** Returns the reports about agents, in order. */
  findAgentReports(kind: AgentReport["kind"]): AgentReport[] {
    return this.reports.filter((report): report is AgentReport => report.kind === kind);
  }

  /** Returns the reports of the agents that have started and not ended. */
  findRunningAgents(): AgentReport[] {
    const ended = new Set(
      this.findAgentReports("ended").map(({ taskId, attempt }) => `${taskId} ${attempt}`),
    );
    return this.findAgentReports("started").filter(
      ({ taskId, attempt }) => !ended.has(`${taskId} ${attempt}`),
    );
  }
}

/** Returns how many turns the nodes have started again. */
export function countTakeovers(nodes: readonly ChaosNode[]): number {
  return nodes.flatMap((node) => node.findAgentReports("started")).filter(({ attempt }) => attempt > 1)
    .length;
}
