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
import { A2AError } from "../protocol/index.ts";
import { patchRunnerForInterruptedCalls } from "./patch-runner-for-interrupted-calls.ts";
import { skipAgentSearchWithoutSubAgents } from "./skip-agent-search-without-sub-agents.ts";
import type { AdkRunner } from "./adk-structural-types.ts";

/** An ADK object that Colloquy can serve: an agent of any type, a workflow, an app, or a runner. */
export type AdkRunnable = BaseAgent | Workflow | App | Runner | AdkRunner;
export type AdkRunnableSource = AdkRunnable | (() => AdkRunnable | Promise<AdkRunnable>);

/**
 * Services for the runner that the bridge creates for an agent, a workflow, or an app. The service options
 * are ignored if the application passes a runner, because a runner has its own services.
 */
export interface RunnerOptions {
  /** Name of the ADK app to which the stored sessions belong. Default: the name of the ADK agent. */
  appName?: string;
  /**
   * A session service, or a function that creates the session service. Default: a `MemorySessionService`.
   */
  sessionService?: BaseSessionService | (() => BaseSessionService | undefined);
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
): () => Promise<AdkRunner> {
  if (typeof source !== "function") assertAdkRunnable(source);
  let runner: Promise<AdkRunner> | undefined;
  return () => {
    runner ??= createRunner(source, options).catch((error: unknown) => {
      runner = undefined;
      throw error;
    });
    return runner;
  };
}

async function createRunner(source: AdkRunnableSource, options: RunnerOptions): Promise<AdkRunner> {
  const root = typeof source === "function" ? await source() : source;
  assertAdkRunnable(root);
  if (isRunner(root)) {
    if ("pluginManager" in root) patchRunnerForInterruptedCalls(root, await importAdk());
    return root;
  }
  const { appName, sessionService, artifactService, ...services } = options;
  const adk = await importAdk();
  const [{ MemorySessionService }, { MemoryArtifactService }] = await Promise.all([
    import("./sessions/memory-session-service.ts"),
    import("./artifacts/memory-artifact-service.ts"),
  ]);
  const sessions = typeof sessionService === "function" ? sessionService() : sessionService;
  // ADK's `DatabaseSessionService` initializes itself again on every call until it is ready, and cannot
  // create its tables concurrently. To avoid this, the service is initialized once before the runner is
  // created.
  if (sessions && "init" in sessions && typeof sessions.init === "function") await sessions.init();
  // Resumability lets an answer reach the sub-agent that asked.
  const rootOptions = isApp(root)
    ? { app: root }
    : { agent: root, appName: appName ?? root.name, resumabilityConfig: { isResumable: true } };
  const runner = new adk.Runner({
    ...rootOptions,
    ...services,
    sessionService: sessions ?? new MemorySessionService(),
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

function isRunner(root: AdkRunnable): root is Runner | AdkRunner {
  return "runAsync" in root && "sessionService" in root;
}

function isApp(root: object): root is App {
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
