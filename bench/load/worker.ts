import { expose } from "../remote.ts";
import { measureGrpcRate, type GrpcOrder } from "./grpc.ts";
import { finishReaders, openReaders, type ReadersOrder, type ReadersResult } from "./readers.ts";
import {
  askOnce,
  measureRate,
  measureStream,
  type RateOrder,
  type RateResult,
  type StreamOrder,
  type StreamResult,
} from "./trial.ts";
import type { Template } from "./request.ts";

/** What the load generator's process does for the bench. */
export type LoadCalls = {
  measureRate(order: RateOrder): Promise<RateResult>;
  measureGrpcRate(order: GrpcOrder): Promise<RateResult>;
  measureStream(order: StreamOrder): Promise<StreamResult>;
  askOnce(template: Template): Promise<string>;
  openReaders(order: ReadersOrder): Promise<number>;
  finishReaders(): Promise<ReadersResult>;
};

expose({
  measureRate,
  measureGrpcRate,
  measureStream,
  askOnce,
  openReaders,
  finishReaders,
} satisfies LoadCalls);
