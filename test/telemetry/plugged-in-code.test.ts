/**
 * Every kind of code that a program plugs into a server, as a double that throws. The tasks of the server must not
 * notice it: vitest also fails for an unhandled rejection, which ends a Node.js process.
 */
import { once } from "node:events";
import { context, type ContextManager, metrics, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type TracerConfig,
} from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import {
  type Agent,
  type AgentEvent,
  connect,
  createLogObserver,
  createServer,
  type Observer,
  type Run,
  type SendMessageConfiguration,
  type Server,
  type ServerOptions,
  type Task,
} from "../../src/entries/colloquy.ts";
import { getText } from "../../src/protocol/index.ts";
import {
  createTrafficWriter,
  type TrafficWriter,
  type TrafficWriterOptions,
} from "../../src/entries/trace.ts";
import { resetTracer } from "../../src/observe/telemetry/node/index.ts";

function fail(): never {
  throw new Error("thrown by plugged-in code");
}

/** Returns an object whose methods with the given names throw. */
function createThrowingObject(names: string): Record<string, () => never> {
  return Object.fromEntries(names.split(" ").map((name) => [name, fail]));
}

/** Ends its turns in the way that the message names. */
class VersatileAgent implements Agent {
  readonly whileWorking = "queue";
  readonly #released = Promise.withResolvers<void>();

  describe(): { name: string; description: string } {
    return { name: "versatile", description: "Ends its turns in the way that the message names." };
  }

  /** Ends the turns of the message `wait`. */
  release(): void {
    this.#released.resolve();
  }

  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    const text = getText(message.parts);
    yield { status: { state: "TASK_STATE_WORKING" } };
    yield { artifact: { artifactId: "a", parts: [{ text }] } };
    if (text === "wait") await this.#released.promise;
    if (text === "never") await once(signal, "abort");
    if (text === "ask" || text === "wait") yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  }
}

async function start(
  options: ServerOptions,
  served: Agent = new VersatileAgent(),
): Promise<{ url: string; server: Server }> {
  const server = createServer(served, { store: "memory", observer: false, limits: { runs: 8 }, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen();
  return { server, url };
}

/** Serves tasks of all kinds, and expects the normal outcome of each. Ends more turns than may run at once. */
async function expectTasksToWork(options: ServerOptions): Promise<Server> {
  const served = new VersatileAgent();
  const { url, server } = await start(options, served);
  const client = await connect(url, { retry: { maxRetries: 0 } });
  const send = async (
    text: string,
    taskId?: string,
    configuration?: SendMessageConfiguration,
  ): Promise<Task> => {
    const result = await client.send(text, {
      ...(taskId ? { taskId } : {}),
      ...(configuration && { configuration }),
    });
    if (!("task" in result)) throw new Error("The agent replied without a task.");
    return result.task;
  };
  const returnImmediately = { returnImmediately: true };

  for (let at = 0; at < 4; at++) expect((await send("hi")).status.state).toBe("TASK_STATE_COMPLETED");
  const asked = await send("ask");
  expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect((await send("hi", asked.id)).status.state).toBe("TASK_STATE_COMPLETED");
  const running = await send("wait", undefined, returnImmediately);
  await send("ask", running.id, returnImmediately);
  const queued = send("hi", running.id);
  served.release();
  expect((await queued).status.state).toBe("TASK_STATE_COMPLETED");
  for (let at = 0; at < 4; at++) {
    const texts: string[] = [];
    for await (const event of client.stream("hi")) texts.push(JSON.stringify(event));
    expect(texts.join()).toMatch(/"hi".*TASK_STATE_COMPLETED/);
  }
  const { id } = await send("never", undefined, returnImmediately);
  expect((await client.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
  expect((await send("hi")).status.state).toBe("TASK_STATE_COMPLETED");
  return server;
}

describe("OpenTelemetry of the program that throws", () => {
  afterEach(() => {
    for (const api of [trace, context, propagation, metrics]) api.disable();
    resetTracer();
  });

  const createExporter = (): SimpleSpanProcessor => new SimpleSpanProcessor(new InMemorySpanExporter());
  const noop = { forceFlush: async () => {}, shutdown: async () => {} };
  const register = (config: TracerConfig): void => new NodeTracerProvider(config).register();
  const throwingSpan = createThrowingObject(
    "spanContext setAttribute setAttributes addEvent addLink addLinks setStatus updateName end isRecording recordException",
  );
  const createContextManager = (methods: Partial<ContextManager>): ContextManager => {
    const manager: ContextManager = {
      active: () => ROOT_CONTEXT,
      with: (_context, work, thisArg, ...args) => work.call(thisArg, ...args),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
      ...methods,
    };
    return manager;
  };

  it.each<[string, () => void]>([
    ["a sampler", () => register({ sampler: { shouldSample: fail }, spanProcessors: [createExporter()] })],
    [
      "a span processor at the start",
      () => register({ spanProcessors: [{ ...noop, onStart: fail, onEnd() {} }] }),
    ],
    [
      "a span processor at the end",
      () => register({ spanProcessors: [{ ...noop, onStart() {}, onEnd: fail }] }),
    ],
    ["an exporter", () => register({ spanProcessors: [new SimpleSpanProcessor({ ...noop, export: fail })] })],
    [
      "an id generator",
      () => register({ idGenerator: { generateTraceId: fail, generateSpanId: fail }, spanProcessors: [] }),
    ],
    [
      "a tracer",
      () => trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: fail, startActiveSpan: fail }) }),
    ],
    [
      "a span",
      () =>
        trace.setGlobalTracerProvider({
          getTracer: () => ({ startSpan: () => throwingSpan as never, startActiveSpan: fail }),
        }),
    ],
    [
      "a context manager that cannot enter a context",
      () => {
        context.setGlobalContextManager(createContextManager({ with: fail }));
        register({ spanProcessors: [createExporter()] });
      },
    ],
    [
      "a context manager that cannot leave a context",
      () => {
        context.setGlobalContextManager(
          createContextManager({
            with: (_context, work, thisArg, ...args) => {
              work.call(thisArg, ...args);
              fail();
            },
          }),
        );
        register({ spanProcessors: [createExporter()] });
      },
    ],
    [
      "a context manager without a current context",
      () => {
        context.setGlobalContextManager(createContextManager({ active: fail, with: fail }));
        register({ spanProcessors: [createExporter()] });
      },
    ],
    [
      "a meter",
      () => {
        const instrument = createThrowingObject("add record addCallback removeCallback");
        const create = (): typeof instrument => instrument;
        const meter = {
          createHistogram: create,
          createObservableCounter: create,
          createObservableGauge: create,
          addBatchObservableCallback: () => {},
        };
        metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
      },
    ],
  ])("%s breaks no task and occupies no slot [E2, E22]", async (_name, registerDouble) => {
    registerDouble();
    await expectTasksToWork({});
  });

  it("is reported to the observer", async () => {
    register({ sampler: { shouldSample: fail } });
    const errors: unknown[] = [];
    await expectTasksToWork({ observer: { onError: ({ where, error }) => errors.push([where, error]) } });
    expect(errors).toEqual([["telemetry", new Error("thrown by plugged-in code")]]);
  });
});

describe("an observer that throws", () => {
  const names =
    "onEvent onRun onAgentCall onCommit onPush onSweep onStoreState onStoreMigration onStoreGauges onError onCredentialsRejected onReaderStalled onWarning onRequest onOperatorAccess";

  it.each<[string, ServerOptions]>([
    ["as the option observer", { observer: createThrowingObject(names) }],
    ["of a mounted handler", { mountedHandlers: [createThrowingHandler(names)] }],
    ["as the destination of the log", { observer: createLogObserver({ requests: true, write: fail }) }],
  ])("%s breaks no task [E2]", async (_name, options) => {
    await expectTasksToWork(options);
  });

  function createThrowingHandler(listeners: string) {
    return {
      matchesPath: () => false,
      handle: () => Promise.reject(new Error("unused")),
      observer: createThrowingObject(listeners) as Observer,
    };
  }
});

describe("a record that throws", () => {
  const createRecord = (options: Partial<TrafficWriterOptions>): TrafficWriter =>
    createTrafficWriter(
      { write: () => {}, close: () => {} },
      { vantage: "server", name: "test", onLoss: fail, ...options },
    );
  /** Returns a function that throws from its second call, because a writer cannot be created otherwise. */
  const failLater = <T>(first: T): (() => T) => {
    let calls = 0;
    return () => (calls++ === 0 ? first : fail());
  };

  it.each<[string, () => TrafficWriter]>([
    [
      "in its sink",
      () => createTrafficWriter({ write: fail, close: fail }, { vantage: "server", name: "test" }),
    ],
    [
      "in its sink, asynchronously",
      () =>
        createTrafficWriter(
          { write: () => Promise.reject(new Error("full")), close: () => Promise.reject(new Error("full")) },
          { vantage: "server", name: "test", onLoss: fail },
        ),
    ],
    ["in its redaction", () => createRecord({ redact: failLater("{}") })],
    ["in its clock", () => createRecord({ now: failLater(0) })],
    ["in its monotonic clock", () => createRecord({ monotonicNow: failLater(0) })],
    [
      "in a writer of the program",
      () =>
        ({
          id: "w",
          vantage: "server",
          bodies: true,
          header: "",
          ...createThrowingObject("write createCallId subscribe flush close"),
        }) as unknown as TrafficWriter,
    ],
  ])("%s breaks no request and no task [E2]", async (_name, createDouble) => {
    const server = await expectTasksToWork({ record: createDouble() });
    await server.close({ graceMs: 0 });
  });
});

describe("a callback that throws in every second call", () => {
  const createCallback = <T>(result: T): (() => T) => {
    let calls = 0;
    return () => (calls++ % 2 === 1 ? fail() : result);
  };

  it.each<[string, number, ServerOptions, object]>([
    ["authenticate", 6, { authenticate: createCallback({ tenant: "", principal: "ada" }) }, {}],
    ["tenants", 6, { tenants: createCallback(true) }, { tenant: "acme" }],
    [
      "push.resolve",
      // The notifications wait for their retries.
      12,
      { push: { resolve: fail } },
      { configuration: { taskPushNotificationConfig: { url: "https://receiver.example/hook" } } },
    ],
  ])(
    "%s fails only its own request, and occupies no slot [E14]",
    async (_name, successes, options, params) => {
      const { url } = await start({ ...options, limits: { runs: 2 } });
      const statuses: number[] = [];
      for (let at = 0; at < 12; at++) {
        const message = { messageId: `m${at}`, role: "ROLE_USER", parts: [{ text: "hi" }] };
        const response = await fetch(`${url}/message:send`, {
          method: "POST",
          headers: { "content-type": "application/json", "a2a-version": "1.0" },
          body: JSON.stringify({ message, ...params }),
        });
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(successes);
      expect(statuses).not.toContain(429);
    },
  );
});

it("an agent whose methods throw fails only its own turns, and occupies no slot", async () => {
  const served: Agent = {
    describe: () => ({ name: "broken", description: "Throws" }),
    execute: ({ message }) => ({
      [Symbol.asyncIterator]: () => {
        if (getText(message.parts) === "iterator") fail();
        return {
          next: () => (getText(message.parts) === "next" ? fail() : Promise.reject(new Error("x"))),
          return: fail,
        };
      },
    }),
    deliver: fail,
    onTaskCanceled: fail,
  };
  const { url } = await start({ limits: { runs: 1 } }, served);
  const client = await connect(url, { retry: { maxRetries: 0 } });
  for (const text of ["iterator", "next", "reject"]) {
    const result = await client.send(text);
    expect("task" in result && result.task.status.state).toBe("TASK_STATE_FAILED");
  }
});
