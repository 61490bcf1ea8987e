/**
 * A planner, a solver, or a controller with a durable store. While the file `<role>.kill` names a problem and a number,
 * the process counts its model calls and its commits, and kills itself when the count reaches the number.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  createController,
  createControllerAgent,
  createPlanner,
  createRoleAgent,
  createScriptedModel,
  createSolver,
  type ModelRequest,
} from "../../../src/cards/roles/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { SqliteStore } from "../../../src/stores/index.ts";

const [role = "", folder = "", port = "", solverUrl = "", plannerUrl = ""] = process.argv.slice(2);
const SUBTASK_COUNT = 6;
const killFile = join(folder, `${role}.kill`);
let problem = "";
let points = 0;

function log(entry: object): void {
  appendFileSync(join(folder, `${role}.jsonl`), `${JSON.stringify(entry)}\n`);
}

/** Marks a place at which the process can die. */
function reachKillPoint(): void {
  if (!existsSync(killFile)) return;
  const [current = "", killAt] = readFileSync(killFile, "utf8").split("\n");
  points = current === problem ? points + 1 : 1;
  problem = current;
  log({ kind: "point" });
  if (points !== Number(killAt)) return;
  rmSync(killFile);
  process.kill(process.pid, "SIGKILL");
}

class KillableStore extends SqliteStore {
  override async commit(...args: Parameters<SqliteStore["commit"]>): ReturnType<SqliteStore["commit"]> {
    const [batch] = args;
    reachKillPoint();
    const result = await super.commit(...args);
    for (const { key } of batch.flatMap(({ steps = [] }) => steps)) {
      if (key.startsWith("model ") && !key.includes(" begun ")) log({ kind: "committed" });
    }
    reachKillPoint();
    return result;
  }
}

/** The planner adds 1 to the number of the problem in each subtask, and answers with the last result. */
function think({ input }: ModelRequest): string {
  if (input.kind !== "plan") return String(Number(/\d+/.exec(input.task.content)?.[0]) + 1);
  const { findings, task } = input;
  const last = findings.at(-1)?.answer ?? /\d+/.exec(task.content)?.[0];
  if (findings.length === SUBTASK_COUNT) return JSON.stringify({ action: "final_answer", answer: last });
  return JSON.stringify({ action: "call_solver", subtask: `Add one to ${last}.` });
}

const model = createScriptedModel(async (request) => {
  const prompt = request.messages.at(-1)?.text;
  log({ kind: "begun", prompt });
  reachKillPoint();
  // The reply takes a turn of the event loop, so that commits of other tasks can come between.
  await new Promise((resolve) => setImmediate(resolve));
  reachKillPoint();
  log({ kind: "ended", prompt });
  return think(request);
});

const recorder = {
  recordCard: (line: object) => log({ ...line, kind: "card" }),
  recordModelCall: (line: object) => log({ ...line, kind: "call" }),
};
const connectOptions = {
  reconnect: { maxRetries: 1000, initialDelayMs: 20, maxDelayMs: 100 },
  retry: { maxRetries: 1000, initialDelayMs: 20, maxDelayMs: 100 },
};
const shared = { recorder, connectOptions };
const agents = {
  solver: () => createRoleAgent(createSolver(), { ...shared, model }),
  planner: () =>
    createRoleAgent(createPlanner({ maxTurns: SUBTASK_COUNT + 1 }), {
      ...shared,
      model,
      roleTargets: { solver: solverUrl },
    }),
  controller: () =>
    createControllerAgent({
      controller: createController({ ...shared, roleTargets: { planner: plannerUrl } }),
    }),
};
const server = createServer(agents[role as keyof typeof agents](), {
  store: new KillableStore(join(folder, `${role}.db`)),
  limits: { turnAttempts: 1000 },
  observer: false,
});
const { url } = await server.listen({ port: Number(port) });
process.send?.(url);
