import { Quota } from "../../base/data-structures/index.ts";
import type { Caller } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { ByteAccount } from "../byte-ledger/byte-ledger.ts";

/**
 * Bytes that an address must have free to start a call. HTTP/2 accepts 32 KiB of a message before the server reads
 * the message.
 */
const UNREAD_REQUEST_BYTES = 32 * 1024;

/** Creates the quota of the calls that all clients of a gRPC listener have open. `maxCalls` is the option `calls`. */
export function createCallQuota(maxCalls: number): Quota {
  return new Quota({
    capacity: maxCalls,
    createError: (refusal, holder) => {
      const ofHolder = holder.startsWith("caller ") ? "This caller has" : "This remote address has";
      const whose = refusal === "capacity" ? "All clients have" : ofHolder;
      const limit = maxCalls.toLocaleString("en");
      const text = `${whose} too many open gRPC calls ("grpc.calls" of listen is ${limit}, shared fairly); end some calls, and try again in a second.`;
      return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
    },
  });
}

/**
 * Accounts for one gRPC call: for the remote address until the call is authenticated, and then for its caller. The
 * methods throw RESOURCE_EXHAUSTED if the share of the holder is used up.
 */
export class GrpcCallAccount {
  readonly byteAccount: ByteAccount;
  readonly #openCalls: Quota;
  #releaseCall: () => void = () => {};

  constructor(byteAccount: ByteAccount, openCalls: Quota) {
    this.byteAccount = byteAccount;
    this.#openCalls = openCalls;
  }

  /** Starts to account for the call, before anything else happens. */
  open(): void {
    this.#releaseCall = this.#openCalls.acquire(this.byteAccount.holderKey);
    this.byteAccount.reserveBodyBytes(UNREAD_REQUEST_BYTES);
  }

  /** Makes an authenticated caller the holder. Anonymous callers stay represented by the remote address. */
  assignToCaller(caller: Caller): void {
    if (caller.principal === "") return;
    this.#releaseCall();
    this.byteAccount.releaseBodyBytes();
    this.byteAccount.assignToCaller(caller);
    this.open();
  }

  /** Replaces the number of bytes that are written to a stream and not yet taken by the client. */
  reserveUnreadBytes(bytes: number): void {
    if (!this.byteAccount.tryReservePendingBytes(bytes)) throw this.byteAccount.createRefusal("responses");
  }

  /** Returns everything. */
  close(): void {
    this.#releaseCall();
    this.byteAccount.close();
  }
}
