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
import { patchRunner } from "./patch-runner.ts";
import type { AdkRunner } from "./types.ts";

/** What can be put on the network: an agent of any kind, a workflow, an app, a runner, or what makes one of them. */
export type AdkRunnable = BaseAgent | Workflow | App | Runner | AdkRunner;
export type AdkRunnableSource = AdkRunnable | (() => AdkRunnable | Promise<AdkRunnable>);

/** The services of a runner that is made for an agent, a workflow or an app; a runner comes with its own. */
export interface RunnerOptions {
  /** Default: the name of the agent. Sessions are kept under it. */
  appName?: string;
  /** Default: a `MemorySessionService`. A function is asked when the runner is made. */
  sessionService?: BaseSessionService | (() => BaseSessionService | undefined);
  artifactService?: BaseArtifactService;
  memoryService?: BaseMemoryService;
  credentialService?: BaseCredentialService;
  plugins?: BasePlugin[];
}

/**
 * Makes the runner when it is first needed, and only once; a failure is tried again by the next who asks. What can be
 * seen to be nothing of ADK is refused at once.
 */
export function createLazyRunner(
  source: AdkRunnableSource,
  options: RunnerOptions,
): () => Promise<AdkRunner> {
  if (typeof source !== "function") assertAdkRunnable(source);
  let made: Promise<AdkRunner> | undefined;
  return () => {
    made ??= createRunner(source, options).catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function createRunner(source: AdkRunnableSource, options: RunnerOptions): Promise<AdkRunner> {
  const root = typeof source === "function" ? await source() : source;
  assertAdkRunnable(root);
  if (isRunner(root)) {
    if ("pluginManager" in root) patchRunner(root, await importAdk());
    return root;
  }
  const { appName, sessionService, ...services } = options;
  const adk = await importAdk();
  const { MemorySessionService } = await import("./sessions/memory-session-service.ts");
  const sessions = typeof sessionService === "function" ? sessionService() : sessionService;
  // ADK's database opens itself anew for each who asks until it is open, and cannot make its tables twice at once.
  if (sessions && "init" in sessions && typeof sessions.init === "function") await sessions.init();
  // Resumable, so that an answer reaches the sub-agent that asked.
  const what = isApp(root)
    ? { app: root }
    : { agent: root, appName: appName ?? root.name, resumabilityConfig: { isResumable: true } };
  const runner = new adk.Runner({
    ...what,
    ...services,
    sessionService: sessions ?? new MemorySessionService(),
  });
  patchRunner(runner, adk);
  return runner;
}

async function importAdk(): Promise<typeof import("@google/adk")> {
  try {
    return await import("@google/adk");
  } catch (cause) {
    throw new A2AError(
      "INTERNAL",
      "Serving an ADK agent needs the package @google/adk: npm install @google/adk",
      {
        cause,
      },
    );
  }
}

function isRunner(root: AdkRunnable): root is Runner | AdkRunner {
  return "runAsync" in root && "sessionService" in root;
}

function isApp(root: object): root is App {
  return "rootAgent" in root && "plugins" in root;
}

/** For callers without types, and for an import that turned out undefined. */
function assertAdkRunnable(root: unknown): void {
  if (typeof root === "object" && root !== null) {
    if ("runAsync" in root || ("name" in root && typeof root.name === "string" && root.name !== "")) return;
  }
  throw new A2AError(
    "INTERNAL",
    `What is to be served is no ADK agent, workflow, app or runner (it is of type ${typeof root}); give one, or a function that makes one.`,
  );
}
