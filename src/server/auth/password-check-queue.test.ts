import { beforeEach, describe, expect, it } from "vitest";
import { PasswordCheckQueue, WrongPasswordPenalties } from "./password-check-queue.ts";

let timeMs: number;
let penalties: WrongPasswordPenalties;
let queue: PasswordCheckQueue;
/** Checks that have started, with the functions that end them. */
let started: { readonly address: string; readonly end: (isCorrect: boolean) => void }[];

beforeEach(() => {
  timeMs = 0;
  penalties = new WrongPasswordPenalties(() => timeMs);
  queue = new PasswordCheckQueue(penalties);
  started = [];
});

let lastCredentialsNumber = 0;

function checkPassword(address: string, credentials = `c${++lastCredentialsNumber}`): Promise<boolean> {
  const result = queue.check(
    address,
    credentials,
    () => new Promise((end) => void started.push({ address, end })),
  );
  result.catch(() => {});
  return result;
}

const settleMicrotasks = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Ends the running checks of an address as wrong until no check of the address runs. */
async function endAsWrong(address: string): Promise<void> {
  for (await settleMicrotasks(); ; await settleMicrotasks()) {
    const at = started.findIndex((check) => check.address === address);
    if (at < 0) return;
    started.splice(at, 1)[0]?.end(false);
  }
}

async function listStartedAddresses(): Promise<string[]> {
  await settleMicrotasks();
  return started.map(({ address }) => address);
}

describe("the queue of password checks", () => {
  it("runs at most two checks at once, and one for each address", async () => {
    for (const address of ["a", "a", "a", "b", "c"]) void checkPassword(address);
    expect(await listStartedAddresses()).toEqual(["a", "b"]);
    started.shift()?.end(true);
    expect(await listStartedAddresses()).toEqual(["b", "a"]);
  });

  it("lets addresses with wrong passwords run only one check, so that another address never waits for them [SEC-14]", async () => {
    for (const address of ["a", "b", "c"]) void checkPassword(address);
    for (const address of ["a", "b", "c"]) await endAsWrong(address);
    for (const address of ["a", "b", "c", "a", "b"]) void checkPassword(address);
    expect(await listStartedAddresses()).toEqual(["a"]);
    void checkPassword("user");
    expect(await listStartedAddresses()).toEqual(["a", "user"]);
  });

  it("gives one address at most half of its places", async () => {
    const guesses = Array.from({ length: 20 }, () => checkPassword("a"));
    await expect(guesses[16]).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfter: 1 });
    void checkPassword("user");
    expect(await listStartedAddresses()).toEqual(["a", "user"]);
  });

  it("refuses a waiting guess in favor of an address without wrong passwords when it is full", async () => {
    for (let at = 0; at < 40; at++) penalties.addWrongPassword(`stranger ${at}`);
    const guesses = Array.from({ length: 32 }, (_, at) => checkPassword(`stranger ${at}`));
    await expect(checkPassword("stranger 33")).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
    void checkPassword("user");
    expect(await listStartedAddresses()).toEqual(["stranger 0", "user"]);
    const refused = await Promise.any(guesses.map((guess) => guess.catch((error: unknown) => error)));
    expect(refused).toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
  });

  it("checks equal credentials of one address once", async () => {
    const results = Array.from({ length: 100 }, () => checkPassword("a", "ada:right"));
    expect(await listStartedAddresses()).toEqual(["a"]);
    started[0]?.end(true);
    expect(new Set(await Promise.all(results))).toEqual(new Set([true]));
  });

  it("lets an address with many wrong passwords wait longer after each, up to a minute, and forgets them", async () => {
    for (let count = 0; count < 5; count++) {
      void checkPassword("a");
      await endAsWrong("a");
    }
    await expect(checkPassword("a")).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfter: 1 });
    const waits: (number | undefined)[] = [];
    for (let count = 0; count < 8; count++) {
      const { retryAfter } = penalties.findPenaltyError("a") ?? {};
      waits.push(retryAfter);
      timeMs += 1_000 * (retryAfter ?? 0);
      expect(penalties.findPenaltyError("a")).toBeUndefined();
      penalties.addWrongPassword("a");
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(penalties.findPenaltyError("b")).toBeUndefined();
    timeMs += 60_000 * 20;
    expect(penalties.countWrongPasswords("a")).toBe(0);
  });

  it("refuses the waiting checks of an address that must wait", async () => {
    const guesses = Array.from({ length: 16 }, () => checkPassword("a"));
    await endAsWrong("a");
    const outcomes = await Promise.allSettled(guesses);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  });

  it("remembers a bounded number of addresses", () => {
    for (let at = 0; at < 30_000; at++) penalties.addWrongPassword(`address ${at}`);
    expect(penalties.countWrongPasswords("address 0")).toBe(0);
    expect(penalties.countWrongPasswords("address 29999")).toBe(1);
  });
});
