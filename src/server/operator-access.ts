import type { Caller, Observer, OperatorAccessReport } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { authenticateCaller, type Authenticator, type AuthenticationOption } from "./auth/authenticator.ts";
import type { HttpRequest } from "./http-exchange.ts";
import {
  type CallerAgentAccess,
  listTasksWithFirstEvents,
  type ListedTaskPage,
  type TaskListConditions,
} from "./task-log-access.ts";
import type { ServerStore } from "./resolve-store.ts";

/** Options for operators, who see and control the tasks of all callers. */
export interface OperatorOptions {
  /**
   * Authenticates operators. The value is a function, an authentication scheme from `colloquy/auth`, or a list of
   * functions and schemes. Use credentials that no caller has.
   */
  readonly authenticate: AuthenticationOption;
}

/** Access of an operator to the tasks of all callers. Each use is reported to `Observer.onOperatorAccess`. */
export interface OperatorAccess {
  readonly operator: Caller;
  /** Access on behalf of the operator, for new tasks. */
  readonly access: CallerAgentAccess;
  /** Returns a page of the tasks of all callers, with the newest status first. */
  listTasks(conditions: TaskListConditions): Promise<ListedTaskPage>;
  /**
   * Returns access on behalf of the owner of a task, for one action. Rejects with TASK_NOT_FOUND if no caller has the
   * task.
   */
  accessTask(agentId: string, taskId: string, action: string): Promise<CallerAgentAccess>;
  /** Reports an action that concerns no single task, such as watching all events. */
  reportAction(action: string): void;
}

interface OperatorContext {
  readonly authenticator: Authenticator;
  readonly store: ServerStore;
  readonly observer: Observer;
  readonly createAccess: (caller: Caller) => CallerAgentAccess;
}

/** Returns the access of an operator, or `undefined` if the request has no credentials of an operator. */
export async function findOperatorAccess(
  request: HttpRequest,
  context: OperatorContext,
): Promise<OperatorAccess | undefined> {
  const operator = await findOperator(request, context.authenticator);
  return operator && createOperatorAccess(operator, request.remoteAddress, context);
}

async function findOperator(request: HttpRequest, authenticator: Authenticator): Promise<Caller | undefined> {
  try {
    const operator = await authenticateCaller(request, (credentials) =>
      authenticator.authenticate(credentials),
    );
    return operator.principal === "" || operator.contextScope ? undefined : operator;
  } catch (error) {
    if (error instanceof A2AError && isRejection(error)) return undefined;
    throw error;
  }
}

function isRejection({ reason }: A2AError): boolean {
  return reason === "UNAUTHENTICATED" || reason === "PERMISSION_DENIED";
}

function createOperatorAccess(
  operator: Caller,
  remoteAddress: string | undefined,
  { store, observer, createAccess }: OperatorContext,
): OperatorAccess {
  const report = (access: Omit<OperatorAccessReport, "operator" | "remoteAddress">): void =>
    observer.onOperatorAccess?.({
      operator: operator.principal,
      ...access,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    });
  return {
    operator,
    access: createAccess(operator),
    listTasks: (conditions) => {
      const { agent } = conditions;
      report({ action: "list tasks", ...(agent === undefined ? {} : { agent }) });
      return listTasksWithFirstEvents(store, conditions);
    },
    accessTask: async (agent, taskId, action) => {
      const scope = await store.overview?.findScope(agent, taskId);
      if (!scope)
        throw new A2AError(
          "TASK_NOT_FOUND",
          `No caller has the task ${taskId.slice(0, 100)}; list the tasks.`,
        );
      const { tenant, principal } = scope;
      report({ action, agent, taskId, owner: { tenant, principal } });
      return createAccess({ tenant, principal });
    },
    reportAction: (action) => report({ action }),
  };
}
