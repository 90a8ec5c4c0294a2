/**
 * Elements that are known to be there. The compiler gives `Element | undefined` for `list[index]`
 * (noUncheckedIndexedAccess): where an index is known to be inside, `at` says so and checks it.
 */

/** The element of an array, a typed array or a text. Throws a RangeError when the index is outside. */
export function at<Element>(list: ArrayLike<Element>, index: number): Element {
  const element = list[index];
  if (element !== undefined || index in Object(list)) return element as Element;
  throw new RangeError(`no element ${index} in a list of ${list.length}`);
}

/** The last element. Throws a RangeError when there is none. */
export function last<Element>(list: ArrayLike<Element>): Element {
  return at(list, list.length - 1);
}
