import { FairShareLedger, type FairShareRefusal } from "../../base/data-structures/index.ts";
import { getLimitHolderKey, type Caller } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { ByteAccount, ByteLedger } from "../byte-ledger/byte-ledger.ts";
import { getAddressHolderKey } from "../remote-address.ts";

/**
 * Bytes that an address must have free to start a call. HTTP/2 accepts 32 KiB of a message before the server reads
 * the message.
 */
const UNREAD_REQUEST_BYTES = 32 * 1024;

/** What the calls of a gRPC listener share: the number of open calls, and the byte ledger of the server. */
export class GrpcCallShares {
  readonly byteLedger: ByteLedger;
  readonly maxCalls: number;
  readonly #openCalls: FairShareLedger;

  constructor(byteLedger: ByteLedger, maxCalls: number) {
    this.byteLedger = byteLedger;
    this.maxCalls = maxCalls;
    this.#openCalls = new FairShareLedger({ capacity: maxCalls });
  }

  reserveCall(holder: string): FairShareRefusal | undefined {
    return this.#openCalls.reserve(holder, 1);
  }

  releaseCall(holder: string): void {
    this.#openCalls.release(holder, 1);
  }
}

/**
 * Accounts for one gRPC call: for the remote address until the call is authenticated, and then for its caller. The
 * methods throw RESOURCE_EXHAUSTED if the share of the holder is used up.
 */
export class GrpcCallAccount {
  readonly byteAccount: ByteAccount;
  readonly #shares: GrpcCallShares;
  readonly #remoteAddress: string | undefined;
  #callHolder: string | undefined;

  constructor(shares: GrpcCallShares, call: { readonly remoteAddress: string | undefined }) {
    this.#shares = shares;
    this.#remoteAddress = call.remoteAddress;
    this.byteAccount = shares.byteLedger.openAccount(call);
  }

  /** Starts to account for the call, before anything else happens. */
  open(): void {
    this.#reserveCall(`address ${getAddressHolderKey(this.#remoteAddress)}`);
    this.byteAccount.reserveBodyBytes(UNREAD_REQUEST_BYTES);
  }

  /** Makes an authenticated caller the holder. Anonymous callers stay represented by the remote address. */
  assignToCaller(caller: Caller): void {
    if (caller.principal === "") return;
    this.byteAccount.releaseBodyBytes();
    this.byteAccount.assignToCaller(caller);
    this.#reserveCall(`caller ${getLimitHolderKey(caller)}`);
    this.byteAccount.reserveBodyBytes(UNREAD_REQUEST_BYTES);
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

  #reserveCall(holder: string): void {
    this.#releaseCall();
    const refusal = this.#shares.reserveCall(holder);
    if (refusal !== undefined) throw this.#createRefusal(refusal);
    this.#callHolder = holder;
  }

  #releaseCall(): void {
    if (this.#callHolder !== undefined) this.#shares.releaseCall(this.#callHolder);
    this.#callHolder = undefined;
  }

  #createRefusal(refusal: FairShareRefusal): A2AError {
    const { caller } = this.byteAccount.holder;
    const whose =
      refusal === "capacity" ? "All clients have" : caller ? "This caller has" : "This remote address has";
    const limit = this.#shares.maxCalls.toLocaleString("en");
    const text = `${whose} too many open gRPC calls ("grpc.calls" of listen is ${limit}, shared fairly); end some calls, and try again in a second.`;
    return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
  }
}
