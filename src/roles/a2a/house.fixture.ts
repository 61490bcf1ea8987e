import { onTestFinished } from "vitest";
import { connect, type Remote } from "../../client/index.ts";
import { type Card, PLANNER, SOLVER } from "../../cards/index.ts";
import { FakeClock } from "../../engine/engine.fixture.ts";
import type { Task } from "../../protocol/index.ts";
import { type Controller, type ControllerOptions, createController } from "../controller.ts";
import type { Desk, Role } from "../role.ts";
import { type ServedRole, serveRoles, type ServeRolesOptions } from "../serve.ts";
import { Memo } from "./dialogue.fixture.ts";

/** Roles on servers of their own, a controller, and all that they have on record. Time stands still until a test moves it. */
export interface House {
  readonly urls: Readonly<Record<string, string>>;
  readonly controller: Controller;
  readonly memo: Memo;
  readonly clock: FakeClock;
  /** What went wrong and no card says in full. */
  readonly errors: unknown[];
  /** All tasks of a role, the newest first. */
  readonly tasks: (role: string) => Promise<Task[]>;
  readonly remote: (role: string) => Promise<Remote>;
}

export async function house(
  roles: Readonly<Record<string, Role | ServedRole>>,
  options: Omit<ServeRolesOptions, "roles"> & { readonly controller?: ControllerOptions } = {},
): Promise<House> {
  const memo = new Memo();
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const observer = { onError: ({ error }: { error: unknown }): number => errors.push(error) };
  const { controller: own, ...shared } = options;
  const served = await serveRoles({ recorder: memo, clock, observer, ...shared, roles });
  onTestFinished(() => served.close({ graceMs: 100 }));
  const { protocol, graceMs } = shared;
  const all = {
    recorder: memo,
    clock,
    observer,
    links: { ...served.urls, ...shared.links },
    ...(protocol ? { protocol } : {}),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
  const remotes = new Map<string, Promise<Remote>>();
  const remote = (name: string): Promise<Remote> => {
    const known = remotes.get(name) ?? connect(served.urls[name] ?? "");
    remotes.set(name, known);
    return known;
  };
  return {
    urls: served.urls,
    controller: createController({ ...all, ...own }),
    memo,
    clock,
    errors,
    remote,
    async tasks(role) {
      const { tasks } = await (await remote(role)).task.list({ includeArtifacts: true });
      return tasks;
    },
  };
}

/** A role from what it does. */
export function role(name: string, work: Role["work"], more: Partial<Role> = {}): Role {
  return { name, description: `The ${name} of a test.`, work, ...more };
}

/** A planner that hands the problem to the solver as it is, and its answer back. */
export const handing: Role = role(PLANNER, async (desk) => {
  const reply = await desk.delegate({ to: SOLVER, task: desk.task.content, turn: 1 });
  return reply.message_type === "error"
    ? { error: reply.content, errorType: reply.metadata.error_type }
    : { result: reply.content, status: reply.metadata.status === "partial" ? "partial" : "completed" };
});

/** A role that never ends by itself; `begun` resolves when it is at work. */
export function sleeping(
  name: string,
  onStop: (desk: Desk) => ReturnType<Role["work"]> = async (desk) => {
    throw desk.signal.reason;
  },
): { readonly role: Role; readonly begun: Promise<Desk> } {
  const begun = Promise.withResolvers<Desk>();
  const asleep = role(name, async (desk) => {
    begun.resolve(desk);
    await new Promise<void>((resolve) => desk.signal.addEventListener("abort", () => resolve()));
    return await onStop(desk);
  });
  return { role: asleep, begun: begun.promise };
}

/** `planner → solver task: 2 + 2` */
export function told({ sender, recipient, message_type, content }: Card): string {
  return `${sender} → ${recipient} ${message_type}: ${content}`;
}
