import { describe, expect, it } from "vitest";
import { ByteLedger } from "./byte-ledger.ts";

const alice = { tenant: "", principal: "alice" };

describe("the byte ledger", () => {
  it("gives a single remote address a quarter, and then refuses with the option and a retry time", () => {
    const ledger = new ByteLedger(400);
    const accounts = [1, 2, 3].map(() => ledger.openAccount({ remoteAddress: "192.0.2.1" }));
    accounts[0]?.reserveResponseText(50);
    accounts[1]?.reserveBodyBytes(50);
    expect(() => accounts[2]?.reserveBodyBytes(1)).toThrow(
      expect.objectContaining({
        reason: "RESOURCE_EXHAUSTED",
        retryAfter: 1,
        message: expect.stringMatching(/this remote address.*"limits.bufferedBytes" is 400/) as string,
      }),
    );
    expect(ledger.reserved).toBe(100);
  });

  it("serves an authenticated caller while strangers at the same address have used their share", () => {
    const ledger = new ByteLedger(400);
    ledger.openAccount({ remoteAddress: "192.0.2.1" }).reserveBodyBytes(100);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.assignToCaller(alice);
    account.reserveResponseText(200);
    expect(account.holder.caller).toEqual(alice);
    expect(ledger.reserved).toBe(300);
  });

  it("counts anonymous callers by their remote address", () => {
    const ledger = new ByteLedger(400);
    const accounts = ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map((remoteAddress) => {
      const account = ledger.openAccount({ remoteAddress });
      account.assignToCaller({ tenant: "", principal: "" });
      return account;
    });
    accounts[0]?.reserveBodyBytes(100);
    expect(() => accounts[1]?.reserveBodyBytes(1)).toThrow(/this remote address/);
    expect(() => accounts[2]?.reserveBodyBytes(1)).not.toThrow();
  });

  it("counts a written chunk only once if the complete text is reserved, and returns everything on close", () => {
    const ledger = new ByteLedger(400);
    const account = ledger.openAccount({ remoteAddress: undefined });
    account.reserveResponseText(90);
    expect(account.tryReservePendingBytes(80)).toBe(true);
    expect(ledger.reserved).toBe(90);
    account.tryReservePendingBytes(0);
    account.reserveResponseText(20);
    expect(ledger.reserved).toBe(20);
    account.reserveBodyBytes(5);
    account.close();
    account.close();
    expect(ledger.reserved).toBe(0);
  });

  it("refuses a known task before the server loads the task", () => {
    const ledger = new ByteLedger(400);
    const account = ledger.openAccount({ remoteAddress: "192.0.2.1" });
    account.rememberTaskSize("t", 90);
    account.rememberTaskSize("t", 120);
    expect(() => account.assertRoomForKnownTask("t")).not.toThrow();
    account.reserveBodyBytes(30);
    expect(() => account.assertRoomForKnownTask("t")).toThrow(/no more responses/);
    expect(() => account.assertRoomForKnownTask("other")).not.toThrow();
  });
});
