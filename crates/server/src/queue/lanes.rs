//! Who is next. Pure: no threads, no clock.
//!
//! Invariant: `turns` has each client with waiting jobs exactly once, and each client's `skills` has each of its skills with
//! waiting jobs exactly once.

use std::collections::VecDeque;

use super::{Bounds, Owner, Taken, Work};

/// Jobs by client and skill.
pub(super) struct Lanes {
    bounds: Bounds,
    clients: Vec<Client>,
    /// Clients with waiting jobs; the next one first.
    turns: VecDeque<usize>,
    running_of_skill: Vec<usize>,
    waiting: usize,
    running: usize,
    next_number: u64,
}

#[derive(Default)]
struct Client {
    running: usize,
    waiting: usize,
    /// Its skills with waiting jobs; the next one first.
    skills: VecDeque<(usize, VecDeque<(u64, Work)>)>,
}

impl Lanes {
    pub fn new(bounds: Bounds) -> Lanes {
        let (clients, turns, running_of_skill) = Default::default();
        Lanes { bounds, clients, turns, running_of_skill, waiting: 0, running: 0, next_number: 0 }
    }

    /// Adds a job at the end of its lane; `None` if there are too many.
    pub fn push(&mut self, owner: Owner, work: Work) -> Option<u64> {
        grow_to(&mut self.clients, owner.client);
        grow_to(&mut self.running_of_skill, owner.skill);
        let client = &mut self.clients[owner.client];
        if self.waiting >= self.bounds.waiting || client.waiting >= self.bounds.waiting_per_client {
            return None;
        }
        let number = self.next_number;
        self.next_number += 1;
        match client.skills.iter_mut().find(|(skill, _)| *skill == owner.skill) {
            Some((_, jobs)) => jobs.push_back((number, work)),
            None => client.skills.push_back((owner.skill, VecDeque::from([(number, work)]))),
        }
        if client.waiting == 0 {
            self.turns.push_back(owner.client);
        }
        client.waiting += 1;
        self.waiting += 1;
        Some(number)
    }

    /// Whether a waiting job may begin.
    pub fn has_next(&self) -> bool {
        self.find_next().is_some()
    }

    /// The job whose turn it is, and that is within its client's and its skill's share.
    pub fn take(&mut self) -> Option<Taken> {
        let (turn, place) = self.find_next()?;
        let number = self.turns.remove(turn)?;
        let client = &mut self.clients[number];
        let (skill, mut jobs) = client.skills.remove(place)?;
        let (_, work) = jobs.pop_front()?;
        if !jobs.is_empty() {
            client.skills.push_back((skill, jobs));
        }
        client.waiting -= 1;
        client.running += 1;
        if client.waiting > 0 {
            self.turns.push_back(number);
        }
        self.waiting -= 1;
        self.running += 1;
        self.running_of_skill[skill] += 1;
        Some(Taken { owner: Owner { client: number, skill }, work })
    }

    /// Its places: in the turns, and among the client's skills.
    fn find_next(&self) -> Option<(usize, usize)> {
        self.turns.iter().enumerate().find_map(|(turn, number)| {
            let client = &self.clients[*number];
            if client.running >= self.bounds.running_per_client {
                return None;
            }
            let fits = |(skill, _): &(usize, _)| self.running_of_skill[*skill] < self.bounds.running_per_skill;
            client.skills.iter().position(fits).map(|place| (turn, place))
        })
    }

    pub fn give_back(&mut self, owner: Owner) {
        self.clients[owner.client].running -= 1;
        self.running_of_skill[owner.skill] -= 1;
        self.running -= 1;
    }

    pub fn withdraw(&mut self, owner: Owner, number: u64) -> Option<Work> {
        let client = self.clients.get_mut(owner.client)?;
        let place = client.skills.iter().position(|(skill, _)| *skill == owner.skill)?;
        let jobs = &mut client.skills[place].1;
        let (_, work) = jobs.iter().position(|(of, _)| *of == number).and_then(|at| jobs.remove(at))?;
        if jobs.is_empty() {
            client.skills.remove(place);
        }
        client.waiting -= 1;
        self.waiting -= 1;
        if client.waiting == 0 {
            self.turns.retain(|turn| *turn != owner.client);
        }
        Some(work)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    pub fn waiting(&self) -> usize {
        self.waiting
    }

    pub fn running(&self) -> usize {
        self.running
    }
}

/// Makes sure that there is an entry with this number. Numbers are those of tokens and of skills, which are few.
fn grow_to<T: Default>(entries: &mut Vec<T>, number: usize) {
    while entries.len() <= number {
        entries.push(T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { waiting: 100, waiting_per_client: 50, running_per_client: 4, running_per_skill: 3 };

    fn push(lanes: &mut Lanes, client: usize, skill: usize) -> Option<u64> {
        lanes.push(Owner { client, skill }, Box::new(|| {}))
    }

    fn take(lanes: &mut Lanes) -> Option<(usize, usize)> {
        lanes.take().map(|taken| (taken.owner.client, taken.owner.skill))
    }

    #[test]
    fn clients_and_their_skills_take_turns() {
        let mut lanes = Lanes::new(BOUNDS);
        for (client, skill) in [(0, 0), (0, 0), (0, 1), (1, 0), (1, 0)] {
            push(&mut lanes, client, skill).unwrap();
        }
        let order: Vec<_> = std::iter::from_fn(|| {
            let next = take(&mut lanes)?;
            lanes.give_back(Owner { client: next.0, skill: next.1 });
            Some(next)
        })
        .collect();
        assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 0), (0, 0)]);
    }

    #[test]
    fn who_has_its_share_waits_and_others_pass() {
        let mut lanes = Lanes::new(BOUNDS);
        assert!((0..10).all(|_| push(&mut lanes, 0, 7).is_some()));
        let begun: Vec<_> = std::iter::from_fn(|| take(&mut lanes)).collect();
        assert_eq!(begun, [(0, 7); 3], "a skill has at most three");
        push(&mut lanes, 0, 8).unwrap();
        push(&mut lanes, 0, 8).unwrap();
        assert_eq!(take(&mut lanes), Some((0, 8)));
        assert_eq!(take(&mut lanes), None, "a client has at most four");
        push(&mut lanes, 1, 7).unwrap();
        push(&mut lanes, 1, 9).unwrap();
        assert_eq!(take(&mut lanes), Some((1, 9)), "its skill 7 has its share already");
        lanes.give_back(Owner { client: 0, skill: 7 });
        assert!(lanes.has_next());
    }

    #[test]
    fn a_full_lane_leaves_room_for_others_and_a_full_queue_for_nobody() {
        let mut lanes = Lanes::new(BOUNDS);
        assert_eq!((0..60).filter(|_| push(&mut lanes, 0, 0).is_some()).count(), 50);
        assert_eq!((0..60).filter(|_| push(&mut lanes, 1, 0).is_some()).count(), 50);
        assert!(push(&mut lanes, 2, 0).is_none());
        take(&mut lanes).unwrap();
        assert!(push(&mut lanes, 2, 0).is_some());
    }

    #[test]
    fn withdrawing_keeps_count() {
        let mut lanes = Lanes::new(BOUNDS);
        let owner = Owner { client: 0, skill: 0 };
        let [first, second] = [0; 2].map(|_| push(&mut lanes, 0, 0).unwrap());
        assert!(lanes.withdraw(owner, first).is_some() && lanes.withdraw(owner, first).is_none());
        assert!(lanes.withdraw(Owner { client: 5, skill: 0 }, second).is_none());
        assert_eq!(take(&mut lanes), Some((0, 0)));
        assert!(lanes.is_empty() && !lanes.has_next() && lanes.running() == 1);
        assert!(push(&mut lanes, 0, 0).is_some(), "a client that had left its turn has one again");
        assert_eq!(take(&mut lanes), Some((0, 0)));
    }
}
