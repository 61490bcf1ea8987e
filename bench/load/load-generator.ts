import { serveRpc } from "../child-process-rpc.ts";
import { measureGrpcThroughput, type GrpcThroughputOptions } from "./grpc-throughput.ts";
import {
  waitForSubscribers,
  openSubscribers,
  type SubscribersOptions,
  type SubscribersResult,
} from "./subscribers.ts";
import {
  sendOnce,
  measureThroughput,
  measureStreamTiming,
  type ThroughputOptions,
  type ThroughputResult,
  type StreamTimingOptions,
  type StreamTiming,
} from "./http-measurements.ts";
import type { RequestTemplate } from "./request-template.ts";

/** What the load generator's process does for the bench. */
export type LoadGeneratorMethods = {
  measureThroughput(order: ThroughputOptions): Promise<ThroughputResult>;
  measureGrpcThroughput(order: GrpcThroughputOptions): Promise<ThroughputResult>;
  measureStreamTiming(order: StreamTimingOptions): Promise<StreamTiming>;
  sendOnce(template: RequestTemplate): Promise<string>;
  openSubscribers(order: SubscribersOptions): Promise<number>;
  waitForSubscribers(): Promise<SubscribersResult>;
};

serveRpc({
  measureThroughput,
  measureGrpcThroughput,
  measureStreamTiming,
  sendOnce,
  openSubscribers,
  waitForSubscribers,
} satisfies LoadGeneratorMethods);
