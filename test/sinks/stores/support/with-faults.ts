/** The subject, with members that stand for its own as long as they are there. */
export function withFaults<Subject extends object>(subject: Subject, faults: Partial<Subject>): Subject {
  return new Proxy(subject, {
    get(target, name) {
      const fault: unknown = Reflect.get(faults, name);
      if (fault !== undefined) return fault;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
