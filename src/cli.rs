pub fn main() -> std::process::ExitCode {
    let a: Vec<String> = std::env::args().collect();
    struct P;
    impl crate::progress::Progress for P {
        fn step(&self, w: &str) {
            eprintln!("{w}")
        }
        fn fraction(&self, _: u64, _: u64) {}
        fn note(&self, m: &str) {
            eprintln!("note {m}")
        }
    }
    let host = crate::Host::builder().progress(std::sync::Arc::new(P)).build().unwrap();
    let skill = match host.skill(&a[1]) {
        Ok(s) => s,
        Err(e) => {
            eprintln!("{e}");
            return 2.into();
        }
    };
    let mut call = crate::Call::new(serde_json::from_str(&a[2]).unwrap());
    if a.len() > 3 {
        call.use_image = false;
    }
    for _ in 0..3 {
        match host.call(&skill, &call) {
            Ok(r) => println!("{}", r.envelope()),
            Err(e) => {
                eprintln!("{e} {:?}", std::error::Error::source(&e));
                return 2.into();
            }
        }
    }
    0.into()
}
