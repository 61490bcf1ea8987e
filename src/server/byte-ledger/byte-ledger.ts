import { Quota, LruCache } from "../../base/data-structures/index.ts";
import { getLimitHolderKey, type Caller } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getAddressHolderKey } from "../remote-address.ts";

/** Number of large tasks whose sizes the ledger remembers. */
const MAX_KNOWN_TASKS = 1000;
const ALWAYS_ACCEPTED_BODY_BYTES = 16 * 1024;
/** A text may need an eighth more than its estimate, for example for escaped characters. */
const MAX_CORRECTION_DIVISOR = 8;

/** A request whose bytes count for the address of its client. */
interface RequestOfAddress {
  readonly remoteAddress?: string | undefined;
}

/**
 * Accounts for the bytes of request bodies and responses that the server holds in memory, by holder. A holder is an
 * authenticated caller, or the remote address of a request without an authenticated caller. The share of each holder
 * shrinks while more holders are active.
 */
export class ByteLedger extends Quota {
  /** Number of bytes that all holders together can reserve, the option `limits.bufferedBytes`. */
  readonly capacity: number;
  readonly #knownTaskSizes = new LruCache<number>(MAX_KNOWN_TASKS);

  constructor(capacity: number) {
    // A single holder gets a fifth. Until the next garbage collection, an encoded text needs about three times its size.
    super({ capacity, ratioToFree: 1 / 4 });
    this.capacity = capacity;
  }

  openAccount(request: RequestOfAddress): ByteAccount {
    return new ByteAccount(this, request);
  }

  /** Returns whether `reserve` would succeed for a task that the holder has read before. */
  hasRoomForKnownTask(holder: string, taskId: string): boolean {
    const size = this.#knownTaskSizes.get(`${holder} ${taskId}`);
    return size === undefined || this.findRefusal(holder, size) === undefined;
  }

  /**
   * Remembers the size of a response that contains a large task, so that the server can refuse the next request for the
   * task before it loads the task. The smallest size counts, because a request can leave out the history.
   */
  rememberTaskSize(holder: string, taskId: string, size: number): void {
    const key = `${holder} ${taskId}`;
    this.#knownTaskSizes.set(key, Math.min(size, this.#knownTaskSizes.get(key) ?? Infinity));
  }
}

/** The party that a request's bytes are reserved for. */
export interface ByteHolder {
  /** The authenticated caller, or `undefined` if the holder is a remote address. */
  readonly caller?: Pick<Caller, "tenant" | "principal">;
  readonly remoteAddress: string | undefined;
}

/**
 * The bytes that the server holds for one request: the part of its body that has arrived, and the part of its response
 * that the client has not taken. The bytes count for the remote address until `assignToCaller`.
 */
export class ByteAccount {
  readonly #ledger: ByteLedger;
  readonly #request: RequestOfAddress;
  #caller: Caller | undefined;
  #holderKey: string | undefined;
  #bodyBytes = 0;
  #textBytes = 0;
  #pendingBytes = 0;
  #isClosed = false;

  constructor(ledger: ByteLedger, request: RequestOfAddress) {
    this.#ledger = ledger;
    this.#request = request;
  }

  /** Key of the holder in the shares of a limit. */
  get holderKey(): string {
    return (this.#holderKey ??= this.#caller
      ? `caller ${getLimitHolderKey(this.#caller)}`
      : `address ${getAddressHolderKey(this.#request.remoteAddress)}`);
  }

  get holder(): ByteHolder {
    const { remoteAddress } = this.#request;
    return this.#caller ? { caller: this.#caller, remoteAddress } : { remoteAddress };
  }

  /** Number of bytes that the account has reserved. */
  get reserved(): number {
    return this.#bodyBytes + Math.max(this.#textBytes, this.#pendingBytes);
  }

  /** Makes an authenticated caller the holder. An anonymous caller stays represented by the remote address. */
  assignToCaller(caller: Caller): void {
    if (caller.principal === "" || this.reserved > 0) return;
    this.#caller = caller;
    this.#holderKey = undefined;
  }

  /**
   * Reserves bytes of the request body that have arrived. Throws RESOURCE_EXHAUSTED if the share is used up. Small bodies
   * are always accepted, so that a holder can still send other requests.
   */
  reserveBodyBytes(bytes: number): void {
    if (this.#isClosed) return;
    if (this.#bodyBytes + bytes <= ALWAYS_ACCEPTED_BODY_BYTES)
      this.#ledger.reserveUnchecked(this.holderKey, bytes);
    else if (!this.#tryReserve(bytes)) throw this.createRefusal("request bodies");
    this.#bodyBytes += bytes;
  }

  releaseBodyBytes(): void {
    this.#release(this.#bodyBytes);
    this.#bodyBytes = 0;
  }

  /**
   * Reserves the bytes of a complete response text until `close`. A later call replaces the number of bytes. Throws
   * RESOURCE_EXHAUSTED if the share is used up.
   */
  reserveResponseText(bytes: number): void {
    if (!this.#resizeResponse(bytes, this.#pendingBytes)) throw this.createRefusal("responses");
  }

  /** Throws RESOURCE_EXHAUSTED if the holder has read the task before, and its share has no room for the task now. */
  assertRoomForKnownTask(taskId: string): void {
    if (!this.#ledger.hasRoomForKnownTask(this.holderKey, taskId)) throw this.createRefusal("responses");
  }

  rememberTaskSize(taskId: string, size: number): void {
    this.#ledger.rememberTaskSize(this.holderKey, taskId, size);
  }

  /**
   * Reserves bytes that are written and not yet taken by the client, unless the complete text is reserved. A later call
   * replaces the number of bytes. Returns false if the share is used up.
   */
  tryReservePendingBytes(bytes: number): boolean {
    return this.#resizeResponse(this.#textBytes, bytes);
  }

  /** Returns all reserved bytes. A request that continues after its connection has ended reserves no further bytes. */
  close(): void {
    this.releaseBodyBytes();
    this.#resizeResponse(0, 0);
    this.#isClosed = true;
  }

  createRefusal(what: "request bodies" | "responses"): A2AError {
    const holder = this.#caller ? "this caller" : "this remote address";
    const limit = this.#ledger.capacity.toLocaleString("en");
    const text =
      `The server already holds the fair share of ${holder} in unfinished requests and unread responses, and accepts ` +
      `no more ${what} ("limits.bufferedBytes" is ${limit}); read pending responses, and try again in a second.`;
    return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
  }

  #resizeResponse(textBytes: number, pendingBytes: number): boolean {
    if (this.#isClosed) return true;
    const before = Math.max(this.#textBytes, this.#pendingBytes);
    const after = Math.max(textBytes, pendingBytes);
    // The first size of a text is an estimate. A small correction must not refuse a text that was accepted. A text that
    // is alone in memory may exceed the capacity, because the client could otherwise never read it.
    const isSmallCorrection = after <= before + before / MAX_CORRECTION_DIVISOR;
    if (after > before && (isSmallCorrection || this.#ledger.reserved === this.reserved))
      this.#ledger.reserveUnchecked(this.holderKey, after - before);
    else if (after > before && !this.#tryReserve(after - before)) return false;
    if (after < before) this.#release(before - after);
    this.#textBytes = textBytes;
    this.#pendingBytes = pendingBytes;
    return true;
  }

  #tryReserve(bytes: number): boolean {
    return this.#ledger.reserve(this.holderKey, bytes) === undefined;
  }

  #release(bytes: number): void {
    if (bytes > 0) this.#ledger.release(this.holderKey, bytes);
  }
}
