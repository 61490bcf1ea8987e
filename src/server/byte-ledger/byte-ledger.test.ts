import { describe, expect, it } from "vitest";
import { ByteLedger } from "./byte-ledger.ts";

const alice = { tenant: "", principal: "alice" };

describe("the byte ledger", () => {
  it("gives a single remote address a fifth, and then refuses with the option and a retry time", () => {
    const ledger = new ByteLedger(5_000_000);
    const accounts = [1, 2, 3].map(() => ledger.openAccount({ remoteAddress: "192.0.2.1" }));
    accounts[0]?.reserveResponseText(500_000);
    accounts[1]?.reserveBodyBytes(500_000);
    expect(() => accounts[2]?.reserveBodyBytes(20_000)).toThrow(
      expect.objectContaining({
        reason: "RESOURCE_EXHAUSTED",
        retryAfter: 1,
        message: expect.stringMatching(/this remote address.*"limits.bufferedBytes" is 5,000,000/) as string,
      }),
    );
    expect(ledger.reserved).toBe(1000_000);
  });

  it("serves an authenticated caller while strangers at the same address have used their share", () => {
    const ledger = new ByteLedger(5_000_000);
    ledger.openAccount({ remoteAddress: "192.0.2.1" }).reserveBodyBytes(1000_000);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.assignToCaller(alice);
    account.reserveResponseText(2000_000);
    expect(account.holder.caller).toEqual(alice);
    expect(ledger.reserved).toBe(3_000_000);
  });

  it("counts anonymous callers by their remote address", () => {
    const ledger = new ByteLedger(5_000_000);
    const accounts = ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map((remoteAddress) => {
      const account = ledger.openAccount({ remoteAddress });
      account.assignToCaller({ tenant: "", principal: "" });
      return account;
    });
    accounts[0]?.reserveBodyBytes(1000_000);
    expect(() => accounts[1]?.reserveBodyBytes(20_000)).toThrow(/this remote address/);
    expect(() => accounts[2]?.reserveBodyBytes(20_000)).not.toThrow();
  });

  it("counts a written chunk only once if the complete text is reserved, and returns everything on close", () => {
    const ledger = new ByteLedger(5_000_000);
    const account = ledger.openAccount({ remoteAddress: undefined });
    account.reserveResponseText(900_000);
    expect(account.tryReservePendingBytes(800_000)).toBe(true);
    expect(ledger.reserved).toBe(900_000);
    account.tryReservePendingBytes(0);
    account.reserveResponseText(200_000);
    expect(ledger.reserved).toBe(200_000);
    account.reserveBodyBytes(5_000);
    account.close();
    account.close();
    expect(ledger.reserved).toBe(0);
  });

  it("accepts small bodies of a holder whose share is used up, and counts them", () => {
    const ledger = new ByteLedger(5_000_000);
    ledger.openAccount({ remoteAddress: "192.0.2.1" }).reserveResponseText(4_000_000);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.reserveBodyBytes(10_000);
    expect(ledger.reserved).toBe(4_010_000);
    expect(() => account.reserveBodyBytes(10_000)).toThrow(/no more request bodies/);
  });

  it("refuses a known task before the server loads the task", () => {
    const ledger = new ByteLedger(5_000_000);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.rememberTaskSize("t", 900_000);
    account.rememberTaskSize("t", 1200_000);
    expect(() => account.assertRoomForKnownTask("t")).not.toThrow();
    account.reserveBodyBytes(300_000);
    expect(() => account.assertRoomForKnownTask("t")).toThrow(/no more responses/);
    expect(() => account.assertRoomForKnownTask("other")).not.toThrow();
  });

  it("reserves nothing for a request that continues after its connection has ended", () => {
    const ledger = new ByteLedger(5_000_000);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.reserveBodyBytes(1_000);
    account.close();
    account.reserveBodyBytes(1_000);
    account.reserveResponseText(500_000);
    expect(account.tryReservePendingBytes(600_000)).toBe(true);
    expect(ledger.reserved).toBe(0);
  });

  it("accepts a response of any size while nothing else is reserved, so that every stored task can be read", () => {
    const ledger = new ByteLedger(5_000_000);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.reserveResponseText(2_000_000);
    account.reserveResponseText(6_000_000);
    const other = ledger.openAccount({ remoteAddress: "192.0.2.2" });
    expect(() => other.reserveResponseText(100_000)).toThrow(/RESOURCE_EXHAUSTED|limits.bufferedBytes/);
    account.close();
    expect(ledger.reserved).toBe(0);
  });
});
