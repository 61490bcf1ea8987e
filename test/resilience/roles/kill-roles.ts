import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, connect } from "../../../src/client/index.ts";
import { getText, type Task } from "../../../src/protocol/index.ts";
import { forkScript } from "../../support/fork-script.ts";
import { findTestPort } from "../../support/test-ports.ts";

const CHILD_SCRIPT = new URL("role-child.ts", import.meta.url);
export const ROLES = ["solver", "planner", "controller"] as const;
export type RoleName = (typeof ROLES)[number];

/** A line in the log of a role. */
interface LogLine {
  readonly kind: "point" | "begun" | "ended" | "committed" | "card" | "call";
  readonly prompt?: string;
  readonly dir?: string;
  readonly card?: {
    readonly message_type: string;
    readonly metadata: {
      readonly card_id: string;
      readonly failed_tries?: readonly { readonly error: string }[];
    };
  };
}

/** What the log of a role shows about one problem. */
export interface RoleLogSummary {
  readonly points: number;
  readonly modelCalls: number;
  /** Calls with the prompt of a call whose outcome was committed. */
  readonly repeatedCommittedCalls: number;
  /** Calls with the prompt of a call that a kill interrupted. */
  readonly repeatedInterruptedCalls: number;
  /** Interrupted calls that the cards of the role list as failed tries. */
  readonly markedInterruptedCalls: number;
}

/** The servers of a planner, a solver, and a controller, which are started again when they die. */
export class KillableRoles {
  readonly #folder: string;
  readonly #ports = new Map<RoleName, string>();
  readonly #children = new Map<RoleName, ChildProcess>();
  readonly #readLineCounts = new Map<RoleName, number>();
  #url = "";
  #isClosed = false;
  /** Number of kills of each role. */
  readonly kills: Record<RoleName, number> = { solver: 0, planner: 0, controller: 0 };

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(folder: string): Promise<KillableRoles> {
    const roles = new KillableRoles(folder);
    for (const role of ROLES) roles.#ports.set(role, String(await findTestPort()));
    for (const role of ROLES) roles.#url = await roles.#startRole(role);
    return roles;
  }

  async #startRole(role: RoleName): Promise<string> {
    const url = (name: RoleName): string => `http://127.0.0.1:${this.#ports.get(name)}/a2a/${name}`;
    const args = [role, this.#folder, this.#ports.get(role) ?? "", url("solver"), url("planner")];
    const child = forkScript(CHILD_SCRIPT, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#children.set(role, child);
    child.once("exit", () => {
      if (this.#isClosed) return;
      this.kills[role]++;
      void this.#startRole(role);
    });
    return await new Promise<string>((resolve) => child.once("message", (url) => resolve(url as string)));
  }

  /** Solves a problem while each role kills itself at a point, if it has one. Returns the answer. */
  async solve(problem: string, killAt: Partial<Record<RoleName, number>>): Promise<string> {
    for (const role of ROLES)
      writeFileSync(this.#getKillFile(role), `${problem}\n${killAt[role] ?? "never"}`);
    const retry = { maxRetries: 1000, initialDelayMs: 20, maxDelayMs: 100 };
    const client = await connect(this.#url, { reconnect: retry, retry });
    const { task } = (await collect(client.stream(problem))) as { task: Task };
    for (const role of ROLES) rmSync(this.#getKillFile(role), { force: true });
    return getText(
      task.artifacts?.find(({ artifactId }) => artifactId === "answer")?.parts ??
        task.status.message?.parts ??
        [],
    );
  }

  #getKillFile(role: RoleName): string {
    return join(this.#folder, `${role}.kill`);
  }

  /** Summarizes the lines that a role has logged since the last call. */
  summarizeNewLines(role: RoleName): RoleLogSummary {
    const file = join(this.#folder, `${role}.jsonl`);
    const all = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    const lines = all.slice(this.#readLineCounts.get(role) ?? 0).map((line) => JSON.parse(line) as LogLine);
    this.#readLineCounts.set(role, all.length);
    return summarizeLog(lines);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const child of this.#children.values()) {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await exit;
    }
  }
}

/** The calls of a role about one problem follow each other, so each commit concerns the first ended call. */
export function summarizeLog(lines: readonly LogLine[]): RoleLogSummary {
  const committed = new Set<string>();
  const interrupted = new Set<string>();
  const ended: string[] = [];
  const counts = { points: 0, modelCalls: 0, repeatedCommittedCalls: 0, repeatedInterruptedCalls: 0 };
  const marks = new Map<string, number>();
  for (const { kind, prompt = "", dir, card } of lines) {
    if (kind === "point") counts.points++;
    if (kind === "begun") {
      counts.modelCalls++;
      if (committed.has(prompt)) counts.repeatedCommittedCalls++;
      else if (interrupted.has(prompt)) counts.repeatedInterruptedCalls++;
      interrupted.add(prompt);
    }
    if (kind === "ended") ended.push(prompt);
    if (kind === "committed") committed.add(ended.pop() ?? "");
    if (dir === "out" && card) {
      const tries = card.metadata.failed_tries ?? [];
      marks.set(
        card.metadata.card_id,
        tries.filter(({ error }) => error.includes("server of the role")).length,
      );
    }
  }
  const markedInterruptedCalls = [...marks.values()].reduce((sum, count) => sum + count, 0);
  return { ...counts, markedInterruptedCalls };
}
