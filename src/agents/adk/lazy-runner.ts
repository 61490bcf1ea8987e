import type {
  App,
  BaseAgent,
  BaseArtifactService,
  BaseCredentialService,
  BaseMemoryService,
  BasePlugin,
  BaseSessionService,
  Runner,
  Workflow,
} from "@google/adk";
import { A2AError } from "../../protocol/index.ts";
import { patchRunnerForInterruptedCalls } from "./patch-runner-for-interrupted-calls.ts";
import { skipAgentSearchWithoutSubAgents } from "./skip-agent-search-without-sub-agents.ts";
import type { ServedFrom } from "./sessions/store-session-service.ts";
import type { AdkRunner } from "./adk-structural-types.ts";

/** An ADK object that Colloquy can serve: an agent of any type, a workflow, an app, or a runner. */
export type AdkRunnable = BaseAgent | Workflow | App | Runner | AdkRunner;
export type AdkRunnableSource = AdkRunnable | (() => AdkRunnable | Promise<AdkRunnable>);

/**
 * Services for the runner that the bridge creates for an agent, a workflow, or an app. The service options
 * are ignored if the application passes a runner, because a runner has its own services.
 */
export interface RunnerOptions {
  /**
   * Name of the ADK app to which the stored sessions belong. Default: the name of the ADK agent if the agent has a
   * `sessionService`, and otherwise the id of the agent on its server.
   */
  appName?: string;
  /**
   * ADK session service that stores the conversations. Default: the conversations are in the task store of the server.
   * If the task store stores no sessions, as the store `memory`, the conversations are in memory.
   */
  sessionService?: BaseSessionService;
  /**
   * Stores the files that tools save with `saveArtifact`. Default: a `MemoryArtifactService`, which keeps up
   * to 128 MiB in memory until the process ends.
   */
  artifactService?: BaseArtifactService;
  memoryService?: BaseMemoryService;
  credentialService?: BaseCredentialService;
  plugins?: BasePlugin[];
}

/**
 * Returns a function that creates the runner on the first call and then reuses the runner. If the function
 * fails to create the runner, the next call tries again. Throws immediately if the source is not an ADK
 * object.
 */
export function createLazyRunner(
  source: AdkRunnableSource,
  options: RunnerOptions,
  findServer: () => ServedFrom | undefined,
): () => Promise<AdkRunner> {
  if (typeof source !== "function") assertAdkRunnable(source);
  let runner: Promise<AdkRunner> | undefined;
  return () => {
    runner ??= createRunner(source, options, findServer).catch((error: unknown) => {
      runner = undefined;
      throw error;
    });
    return runner;
  };
}

async function createRunner(
  source: AdkRunnableSource,
  options: RunnerOptions,
  findServer: () => ServedFrom | undefined,
): Promise<AdkRunner> {
  const root = typeof source === "function" ? await source() : source;
  assertAdkRunnable(root);
  if (isRunner(root)) {
    if ("pluginManager" in root) patchRunnerForInterruptedCalls(root, await importAdk());
    return root;
  }
  const { appName, sessionService, artifactService, ...services } = options;
  const adk = await importAdk();
  const [{ StoreSessionService }, { MemoryArtifactService }] = await Promise.all([
    import("./sessions/store-session-service.ts"),
    import("./artifacts/memory-artifact-service.ts"),
  ]);
  // ADK's `DatabaseSessionService` initializes itself again on every call until it is ready, and cannot
  // create its tables concurrently. To avoid this, the service is initialized once before the runner is
  // created.
  if (sessionService && "init" in sessionService && typeof sessionService.init === "function")
    await sessionService.init();
  // Two agents of a server may have the same name, but not the same id.
  const servedId = sessionService ? undefined : findServer()?.agentId;
  // Resumability lets an answer reach the sub-agent that asked.
  const rootOptions = isApp(root)
    ? { app: root }
    : { agent: root, appName: appName ?? servedId ?? root.name, resumabilityConfig: { isResumable: true } };
  const runner = new adk.Runner({
    ...rootOptions,
    ...services,
    sessionService: sessionService ?? new StoreSessionService(findServer),
    artifactService: artifactService ?? new MemoryArtifactService(),
  });
  patchRunnerForInterruptedCalls(runner, adk);
  skipAgentSearchWithoutSubAgents(runner);
  return runner;
}

async function importAdk(): Promise<typeof import("@google/adk")> {
  try {
    return await import("@google/adk");
  } catch (cause) {
    throw new A2AError(
      "INTERNAL",
      "Serving an ADK agent requires the package @google/adk. Run: npm install @google/adk",
      { cause },
    );
  }
}

export function isRunner(root: AdkRunnable): root is Runner | AdkRunner {
  return "runAsync" in root && "sessionService" in root;
}

export function isApp(root: object): root is App {
  return "rootAgent" in root && "plugins" in root;
}

/**
 * Throws if `root` is not an ADK object. The check helps callers that do not use TypeScript, and detects
 * imports that are `undefined`.
 */
function assertAdkRunnable(root: unknown): void {
  if (typeof root === "object" && root !== null) {
    if ("runAsync" in root || ("name" in root && typeof root.name === "string" && root.name !== "")) return;
  }
  throw new A2AError(
    "INTERNAL",
    `The source to serve is not an ADK agent, workflow, app, or runner (its type is ${typeof root}). ` +
      "Pass one of these, or a function that returns one.",
  );
}
