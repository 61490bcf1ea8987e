import { onTestFinished } from "vitest";
import { connect, type A2AClient } from "../../../client/index.ts";
import { type MessageCard, PLANNER, SOLVER } from "../../index.ts";
import { FakeClock } from "../../../engine/engine.fixture.ts";
import type { Task } from "../../../protocol/index.ts";
import { type Controller, type ControllerOptions, createController } from "../controller.ts";
import type { TaskContext, Role } from "../role.ts";
import { type ServedRoleOptions, serveRoles, type ServeRolesOptions } from "../serve-roles.ts";
import { InMemoryTestCardRecorder } from "./planner-solver-dialogue.fixture.ts";

/**
 * A testbed with each role on its own server, a controller, and a shared recorder. The clock advances only
 * when a test advances it.
 */
export interface RoleTestbed {
  readonly urls: Readonly<Record<string, string>>;
  readonly controller: Controller;
  readonly recorder: InMemoryTestCardRecorder;
  readonly clock: FakeClock;
  /** Errors that the observer received. */
  readonly errors: unknown[];
  /** Returns all tasks of a role, newest first. */
  readonly listTasks: (role: string) => Promise<Task[]>;
  readonly getClient: (role: string) => Promise<A2AClient>;
}

export async function startRoleTestbed(
  roles: Readonly<Record<string, Role | ServedRoleOptions>>,
  options: Omit<ServeRolesOptions, "roles"> & { readonly controller?: ControllerOptions } = {},
): Promise<RoleTestbed> {
  const recorder = new InMemoryTestCardRecorder();
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const observer = { onError: ({ error }: { error: unknown }): number => errors.push(error) };
  const { controller, ...shared } = options;
  const served = await serveRoles({ recorder, clock, observer, ...shared, roles });
  onTestFinished(() => served.close({ graceMs: 100 }));
  const { protocol, graceMs } = shared;
  const controllerOptions = {
    recorder,
    clock,
    observer,
    roleTargets: { ...served.urls, ...shared.roleTargets },
    ...(protocol ? { protocol } : {}),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
  const clients = new Map<string, Promise<A2AClient>>();
  const getClient = (name: string): Promise<A2AClient> => {
    const known = clients.get(name) ?? connect(served.urls[name] ?? "");
    clients.set(name, known);
    return known;
  };
  return {
    urls: served.urls,
    controller: createController({ ...controllerOptions, ...controller }),
    recorder,
    clock,
    errors,
    getClient,
    async listTasks(role) {
      const { tasks } = await (await getClient(role)).tasks.list({ includeArtifacts: true });
      return tasks;
    },
  };
}

/** Creates a role from a function. */
export function createTestRoleFromFunction(
  name: string,
  work: Role["performTask"],
  more: Partial<Role> = {},
): Role {
  return { name, description: `The ${name} of a test.`, performTask: work, ...more };
}

/** A planner that forwards the problem to the solver and returns its answer. */
export const forwardingTestPlanner: Role = createTestRoleFromFunction(PLANNER, async (taskContext) => {
  const reply = await taskContext.delegate({ to: SOLVER, task: taskContext.task.content, turn: 1 });
  return reply.message_type === "error"
    ? { error: reply.content, errorType: reply.metadata.error_type }
    : { result: reply.content, status: reply.metadata.status === "partial" ? "partial" : "completed" };
});

/** Creates a role that runs until it is stopped. `begun` resolves when the role starts. */
export function createTestRoleBlockedUntilStopped(
  name: string,
  onStop: (taskContext: TaskContext) => ReturnType<Role["performTask"]> = async (taskContext) => {
    throw taskContext.signal.reason;
  },
): { readonly role: Role; readonly begun: Promise<TaskContext> } {
  const begun = Promise.withResolvers<TaskContext>();
  const role = createTestRoleFromFunction(name, async (taskContext) => {
    begun.resolve(taskContext);
    await new Promise<void>((resolve) => taskContext.signal.addEventListener("abort", () => resolve()));
    return await onStop(taskContext);
  });
  return { role, begun: begun.promise };
}

/** Formats a card, for example `planner → solver task: 2 + 2`. */
export function formatMessageCardLineForTest({
  sender,
  recipient,
  message_type,
  content,
}: MessageCard): string {
  return `${sender} → ${recipient} ${message_type}: ${content}`;
}
