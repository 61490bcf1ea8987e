/**
 * The part of Vitest that the contract suites use, for runtimes on which Vitest does not run. The bundles of the suites
 * contain this module instead of `vitest`. `expect` is the one of Vitest.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
} from "@vitest/expect";

type Callback = () => unknown;

/** A test, with the hooks around it, outermost first. */
interface CollectedTest {
  readonly name: string;
  readonly run: Callback;
  readonly before: readonly Callback[];
  readonly after: readonly Callback[];
}

export interface TestResult {
  readonly name: string;
  readonly error?: string;
}

interface Group {
  readonly name: string;
  readonly before: Callback[];
  readonly after: Callback[];
}

/** Time limit of a test in milliseconds, far above the duration of any test, also on a busy machine. */
const TEST_TIMEOUT_MS = 180_000;

const collectedTests: CollectedTest[] = [];
const groups: Group[] = [];
const afterAllHooks: Callback[] = [];
let onFinished: Callback[] = [];

function defineGroup(name: string, define: Callback): void {
  groups.push({ name, before: [], after: [] });
  define();
  groups.pop();
}

function defineTest(name: string, run: Callback): void {
  const path = [...groups];
  collectedTests.push({
    name: [...path.map((group) => group.name), name].join(" > "),
    run,
    // Hooks can also follow the test in its group.
    get before() {
      return path.flatMap((group) => group.before);
    },
    get after() {
      return path.toReversed().flatMap((group) => group.after);
    },
  });
}

type Definer = (name: string, callback: Callback) => void;

/** Defines one test or group for each row. `it.each` spreads a row that is an array, and `it.for` does not. */
function defineForEach(define: Definer, spreads: boolean): EachDefiner {
  return (rows) =>
    (name, callback): void => {
      for (const row of rows) {
        const values = spreads && Array.isArray(row) ? row : [row];
        define(formatName(name, values), () => callback(...values));
      }
    };
}

/** Replaces `%s` by the values, or appends the row. */
function formatName(name: string, values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return name.includes("%s")
    ? name.replaceAll("%s", () => texts.shift() ?? "")
    : `${name} ${formatRow(values)}`;
}

function formatRow(values: readonly unknown[]): string {
  const [first] = values;
  if (typeof first === "object" && first !== null && "name" in first) return String(first.name);
  return values.filter((value) => typeof value === "string").join(" ");
}

type EachDefiner = (
  rows: readonly unknown[],
) => (name: string, callback: (...values: unknown[]) => unknown) => void;

const skip: Definer = () => {};
export const describe: Definer & { readonly each: EachDefiner } = Object.assign(defineGroup, {
  each: defineForEach(defineGroup, true),
});
export const it: Definer & {
  readonly each: EachDefiner;
  readonly for: EachDefiner;
  readonly skip: Definer;
  readonly skipIf: (isSkipped: unknown) => Definer;
  readonly runIf: (isRun: unknown) => Definer;
} = Object.assign(defineTest, {
  each: defineForEach(defineTest, true),
  for: defineForEach(defineTest, false),
  skip,
  skipIf: (isSkipped: unknown) => (isSkipped ? skip : defineTest),
  runIf: (isRun: unknown) => (isRun ? defineTest : skip),
});

const topLevelHooks: Group = { name: "", before: [], after: [] };
export const beforeEach = (hook: Callback): void => void (groups.at(-1) ?? topLevelHooks).before.push(hook);
export const afterEach = (hook: Callback): void => void (groups.at(-1) ?? topLevelHooks).after.unshift(hook);
export const beforeAll = (hook: Callback): void => {
  let isDone = false;
  beforeEach(async () => {
    if (isDone) return;
    isDone = true;
    await hook();
  });
};
/** The hook runs after all tests of the suite. */
export const afterAll = (hook: Callback): void => void afterAllHooks.push(hook);
export const onTestFinished = (hook: Callback): void => void onFinished.unshift(hook);

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const expect: object = (value: unknown, message?: string) => chai.expect(value, message);
Object.assign(expect, chai.expect);
(chai.expect as unknown as { extend(expect: object, matchers: object): void }).extend(expect, customMatchers);
Object.assign(expect, Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT));
Object.assign(expect, { poll });

type Matcher = (...expected: unknown[]) => unknown;

/** The function of `node:assert/strict`, for runtimes without modules of Node.js. */
export function deepStrictEqual(actual: unknown, expected: unknown, message?: string): void {
  const assertion = chai.expect(actual, message);
  (Reflect.get(assertion, "toStrictEqual") as Matcher).call(assertion, expected);
}

/** Repeats a matcher with the current value of `read` until the matcher accepts the value. */
function poll(read: Callback): object {
  return new Proxy(
    {},
    {
      get:
        (_, matcher) =>
        (...expected: unknown[]) =>
          waitFor(async () => {
            const assertion = chai.expect(await read());
            return (Reflect.get(assertion, matcher) as Matcher).apply(assertion, expected);
          }),
    },
  );
}

const originals: (() => void)[] = [];

/** Repeats a check until it no longer throws. */
async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await check();
    } catch (error) {
      if (attempt === 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function spyOn(object: object, name: string): { mockImplementation(replacement: Callback): void } {
  const original: unknown = Reflect.get(object, name);
  originals.push(() => void Reflect.set(object, name, original));
  return { mockImplementation: (replacement) => void Reflect.set(object, name, replacement) };
}

function restoreAllMocks(): void {
  for (const restore of originals.splice(0).toReversed()) restore();
}

export const vi: {
  readonly waitFor: typeof waitFor;
  readonly spyOn: typeof spyOn;
  readonly restoreAllMocks: typeof restoreAllMocks;
} = { waitFor, spyOn, restoreAllMocks };

/** The suites use no values of Vitest's global setup. */
export const inject = (): undefined => undefined;

/** Runs all collected tests whose names match, one after another. */
export async function runCollectedTests(matches: (name: string) => boolean): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const collected of collectedTests) if (matches(collected.name)) results.push(await runTest(collected));
  for (const hook of afterAllHooks) await withTimeout(hook).catch(() => {});
  return results;
}

async function runTest({ name, run, before, after }: CollectedTest): Promise<TestResult> {
  onFinished = [];
  try {
    await withTimeout(async () => {
      for (const hook of before) await hook();
      await run();
    });
    return { name };
  } catch (error) {
    return { name, error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) };
  } finally {
    for (const hook of [...onFinished, ...after]) await withTimeout(hook).catch(() => {});
  }
}

async function withTimeout(work: Callback): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No result after ${TEST_TIMEOUT_MS} ms.`)), TEST_TIMEOUT_MS);
  });
  await Promise.race([work(), expired]).finally(() => clearTimeout(timer));
}
