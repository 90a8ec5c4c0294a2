/** When the newest index of a set gives way to a new one. Pure: what is known goes in, a verdict comes out. */
export interface RotationFacts {
  readonly bytes: number;
  readonly documents: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly now: number;
}

export interface Rotation<Settings> {
  readonly type: string;
  due(settings: Settings, facts: RotationFacts): boolean;
}
